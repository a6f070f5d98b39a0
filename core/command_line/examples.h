// Examples at the end of --help. Used by the flags of both programs; tests check that each command
// has an example and that the program accepts every one.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string_view>

namespace gpuward {

struct Example {
  std::string_view command;  // "exclusions add"; empty: the program itself
  std::string_view line;     // as typed; several are separated by line ends
};

// Call it when `app` has all its commands. An example of an unknown command ends the process,
// because the examples are part of the program.
void add_examples(CLI::App& app, std::span<const Example> examples);

}  // namespace gpuward
