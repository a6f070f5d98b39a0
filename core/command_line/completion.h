// Parses a command line and completes it in bash, zsh and fish. The scripts are made from the
// program's own CLI11 app, so they offer exactly the words that the program accepts. Used by the
// flags of all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "core/command_line/examples.h"

namespace gpuward {

// Names that only a running program knows. `command` of the program prints them, a name a line, and
// they complete options and words of that type. In bash and zsh it runs with the program's options
// that were given.
struct NameSource {
  std::string_view type;     // "NODE"
  std::string_view command;  // "list --all -o nodes"
};
using NameSources = std::span<const NameSource>;

// Parses the words. `app` must have all its commands; the examples and `completion bash|zsh|fish`,
// which prints a script for that shell to source, are added. Returns the exit code if the program
// should end: 0 after a script, --help or --version, 2 after wrong words, whose error has been
// printed.
[[nodiscard]] std::optional<int> parse_words(CLI::App& app, std::span<const Example> examples,
                                             int argc, const char* const* argv,
                                             NameSources names = {});

}  // namespace gpuward
