// The option for the formats in output.h. Used by the flags of both programs; separate from
// output.h, which files without a command line include.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/command_line/output.h"

namespace gpuward {

// Any other word is an error of the command line. `format` must outlive the command and keeps its
// value if the option is not given. The option belongs to this command only.
CLI::Option* add_output_option(CLI::App& command, OutputFormat& format,
                               const std::vector<std::string>& words = {"table", "json", "yaml"});

}  // namespace gpuward
