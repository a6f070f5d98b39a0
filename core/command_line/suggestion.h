// Explains the words that the command line rejects. Used by parse_words (completion.h) for all
// programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gpuward {

struct WordFault {
  std::string command;  // "gpuwardctl exclusions": the command that rejects a word
  std::string what;     // the unknown word and a suggestion; empty: another fault
};

// Explains words that `app` has rejected.
[[nodiscard]] WordFault fault_in(const CLI::App& app, int argc, const char* const* argv);

// Returns the options of the command, and those of its parents that it accepts.
[[nodiscard]] std::vector<const CLI::Option*> options_taken_by(const CLI::App& command);
// Returns its commands, without the hidden ones.
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& command);

}  // namespace gpuward
