#include "core/command_line/suggestion.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace gpuward {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kLettersToBegin = 3;

// How many letters have to be put in, taken out, changed, or swapped with the next one.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> rows(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        rows[i][j] = i + j;
        continue;
      }
      const std::size_t changed = a[i - 1] == b[j - 1] ? 0 : 1;
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + changed});
      const bool is_swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swapped) rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.size()][b.size()];
}

std::string complaint(const std::string& command, const std::string& what, const std::string& word,
                      const Words& known) {
  const std::string meant = closest(word, known);
  return command + ": unknown " + what + " \"" + word + "\"" +
         (meant.empty() ? "" : ": did you mean \"" + meant + "\"?") + "\nSee " + command +
         " --help\n";
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

std::string closest(std::string_view word, const Words& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& one : known) {
    const bool is_begun = word.size() >= kLettersToBegin && one.starts_with(word);
    const std::size_t away = is_begun ? 0 : distance(word, one);
    if (away >= least) continue;
    best = one;
    least = away;
  }
  return best;
}

std::string unknown_word(const CLI::App& app, int argc, const char* const* argv) {
  const CLI::App* at = &app;
  std::string path = app.get_name();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") return {};
    const auto options = options_taken_by(*at);
    if (word.size() > 1 && word.starts_with('-')) {
      const CLI::Option* const option = find(options, name_in(word));
      if (option == nullptr) return complaint(path, "flag", name_in(word), long_names(options));
      const bool has_value = word != name_in(word);
      if (option->get_items_expected_max() > 0 && !has_value) ++i;
      continue;
    }
    const CLI::App* const next = find_command(*at, word);
    const auto commands = commands_of(*at);
    if (next == nullptr && commands.empty()) continue;
    if (next == nullptr) return complaint(path, "command", word, names_of(commands));
    at = next;
    path += " " + word;
  }
  return {};
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
