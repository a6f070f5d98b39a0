// How the commands that print something choose their format: -o, and --json as it was called
// before there was a choice. Used by check and findings.
#pragma once

#include "core/command_line/output.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls it so
class App;
}

namespace gpuward::exporter {

// -o, --output and --json; `format` has to outlive the command.
void add_output_flags(CLI::App& command, OutputFormat& format);

}  // namespace gpuward::exporter
