// Parsing of a command line, and its completion in bash and zsh, written out of the program's own
// CLI11 app, so that it knows exactly what the program takes. Used by the flags of both programs.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>

#include "core/command_line/examples.h"

namespace gpuward {

// Parses the words by an app that has all its commands, with `completion bash|zsh` beside them,
// which prints the script for that shell to source, and with the examples. The exit code where the
// program is over with it: 0 after a script, --help or --version, 2 after wrong words, which have
// been complained of.
[[nodiscard]] std::optional<int> parse_words(CLI::App& app, std::span<const Example> examples,
                                             int argc, const char* const* argv);

}  // namespace gpuward
