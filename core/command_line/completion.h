// Parsing of a command line, and its completion in bash, zsh and fish, written out of the program's
// own CLI11 app, so that it knows exactly what the program takes. Used by the flags of all
// programs.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "core/command_line/examples.h"

namespace gpuward {

// Names that only a running program knows: values of options and words of that type are completed
// by what `command` of the program prints, a name a line, in bash and zsh with the options of the
// program itself that were given.
struct NameSource {
  std::string_view type;     // "NODE"
  std::string_view command;  // "list --all -o nodes"
};
using NameSources = std::span<const NameSource>;

// Parses the words by an app that has all its commands, with `completion bash|zsh|fish` beside
// them, which prints the script for that shell to source, and with the examples. The exit code
// where the program is over with it: 0 after a script, --help or --version, 2 after wrong words,
// which have been complained of.
[[nodiscard]] std::optional<int> parse_words(CLI::App& app, std::span<const Example> examples,
                                             int argc, const char* const* argv,
                                             NameSources names = {});

}  // namespace gpuward
