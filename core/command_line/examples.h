// Examples at the end of --help. Used by the flags of both programs; tests hold that each command
// has one and that every one of them is understood.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string_view>

namespace gpuward {

struct Example {
  std::string_view command;  // "exclusions add"; empty: the program itself
  std::string_view line;     // as it would be typed; several are divided by line ends
};

// To be called when `app` has all its commands. A command that does not exist ends the process: an
// example is part of the program.
void add_examples(CLI::App& app, std::span<const Example> examples);

}  // namespace gpuward
