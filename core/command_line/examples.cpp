#include "core/command_line/examples.h"

#include <string>

namespace gpuward {
namespace {

std::string indented(std::string_view lines) {
  std::string text = "  ";
  for (const char c : lines) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text;
}

}  // namespace

void add_examples(CLI::App& app, std::span<const Example> examples) {
  for (const Example& example : examples) {
    CLI::App* command = &app;
    for (const std::string& word : CLI::detail::split(std::string(example.command), ' ')) {
      if (!word.empty()) command = command->get_subcommand(word);
    }
    command->footer("Examples:\n" + indented(example.line));
  }
}

}  // namespace gpuward
