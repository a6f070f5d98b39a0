// The option that output.h is about. Used by the flags of both programs; apart from output.h, which
// files without a command line include.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/command_line/output.h"

namespace gpuward {

// Anything but these words is refused as a wrong command line is. `format` has to outlive the
// command, and stays as it is where the option is not given. The option is the command's own.
CLI::Option* add_output_option(CLI::App& command, OutputFormat& format,
                               const std::vector<std::string>& words = {"table", "json", "yaml"});

}  // namespace gpuward
