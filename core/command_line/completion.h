// Completion of a command line in bash and zsh, written out of the program's own CLI11 app, so that
// it knows exactly what the program takes. Used by the flags of both programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gpuward {

// Adds `completion bash|zsh` to a program that has all its other commands. Parsing writes the word
// to `shell`, which has to outlive the app and stays empty where the command was not given.
void add_completion_command(CLI::App& app, std::string& shell);

// The script for `shell` to source. It offers commands, long options, and the values of options
// that take one of a few words; file names for all else.
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace gpuward
