#include "core/command_line/suggestion.h"

#include <algorithm>
#include <set>

#include "core/command_line/closest.h"

namespace gpuward {
namespace {

using Words = std::vector<std::string>;

std::string unknown(const std::string& what, const std::string& word, const Words& known) {
  return "unknown " + what + " \"" + word + "\"" + did_you_mean(word, known);
}

// "-o" of "-ojson", "--output" of "--output=json".
std::string name_in(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

const CLI::Option* find(const std::vector<const CLI::Option*>& options, const std::string& name) {
  const auto found = std::ranges::find_if(
      options, [&](const CLI::Option* option) { return option->check_name(name); });
  return found == options.end() ? nullptr : *found;
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  const auto all =
      app.get_subcommands([&](const CLI::App* one) { return one->get_name() == name; });
  return all.empty() ? nullptr : all.front();
}

Words long_names(const std::vector<const CLI::Option*>& options) {
  Words names;
  for (const CLI::Option* option : options) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Words names_of(const std::vector<const CLI::App*>& commands) {
  Words names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

}  // namespace

WordFault fault_in(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  WordFault fault{.command = app.get_name(), .what = {}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return fault;
    const auto options = options_taken_by(*at);
    if (word.size() > 1 && word.starts_with('-')) {
      const CLI::Option* const option = find(options, name_in(word));
      if (option == nullptr) {
        fault.what = unknown("flag", name_in(word), long_names(options));
        return fault;
      }
      const bool has_value = word != name_in(word);
      if (option->get_items_expected_max() > 0 && !has_value) ++i;
      continue;
    }
    const CLI::App* const next = find_command(*at, word);
    const auto commands = commands_of(*at);
    if (next == nullptr && commands.empty()) continue;
    if (next == nullptr) {
      fault.what = unknown("command", word, names_of(commands));
      return fault;
    }
    at = next;
    fault.command += " " + word;
  }
  if (at->get_require_subcommand_min() > 0)
    fault.what =
        "a command is required, one of: " + CLI::detail::join(names_of(commands_of(*at)), ", ");
  return fault;
}

std::vector<const CLI::Option*> options_taken_by(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  std::set<std::string> seen;
  for (const CLI::App* app = &command; app != nullptr;
       app = app->get_fallthrough() ? app->get_parent() : nullptr) {
    for (const CLI::Option* option : app->get_options()) {
      if (seen.insert(option->get_name()).second) options.push_back(option);
    }
  }
  return options;
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); });
}

}  // namespace gpuward
