// What was meant by a word that the command line does not know. Used by parse_words (completion.h)
// for all programs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward {

// The known word that is the most like it: a letter or two away, or begun so. Empty: none is.
[[nodiscard]] std::string closest(std::string_view word, const std::vector<std::string>& known);

// Of words that `app` has refused: which command or flag it does not know, and which was meant.
// Empty: they are wrong for another reason.
[[nodiscard]] std::string unknown_word(const CLI::App& app, int argc, const char* const* argv);

// Options of the command, and of the ones around it that it lets through.
[[nodiscard]] std::vector<const CLI::Option*> options_taken_by(const CLI::App& command);
// Its commands, without those that are hidden.
[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& command);

}  // namespace gpuward
