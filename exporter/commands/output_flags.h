// How the commands that print something are told in which format.
#pragma once

#include "core/command_line/output.h"

namespace CLI {
class App;
}

namespace gpuward::exporter {

// -o, --output and --json; `format` has to outlive the command.
void add_output_flags(CLI::App& command, OutputFormat& format);

}  // namespace gpuward::exporter
