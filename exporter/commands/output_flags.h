// The output format of the commands that print results: -o, and --json as the older name. Used by
// check and findings.
#pragma once

#include "core/command_line/output.h"

namespace CLI {  // NOLINT(readability-identifier-naming): name of CLI11
class App;
}

namespace gpuward::exporter {

// Adds -o, --output and --json; `format` must outlive the command.
void add_output_flags(CLI::App& command, OutputFormat& format);

}  // namespace gpuward::exporter
