// What is wrong with words that the command line refuses. Used by parse_words (completion.h) for
// all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gpuward {

struct WordFault {
  std::string command;  // "gpuwardctl exclusions": the one whose words they are
  std::string what;     // which word it does not know, and which was meant; empty: another fault
};

// Of words that `app` has refused.
[[nodiscard]] WordFault fault_in(const CLI::App& app, int argc, const char* const* argv);

// Options of the command, and of the ones around it that it lets through.
[[nodiscard]] std::vector<const CLI::Option*> options_taken_by(const CLI::App& command);
// Its commands, without those that are hidden.
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& command);

}  // namespace gpuward
