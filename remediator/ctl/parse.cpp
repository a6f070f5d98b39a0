#include "remediator/ctl/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/command_line/completion.h"
#include "core/command_line/examples.h"
#include "core/command_line/suggestion.h"
#include "remediator/ctl/words.h"

namespace gpuward::remediator {
namespace {

using Apps = std::vector<std::pair<CLI::App*, const CtlCommand*>>;

// Below the command that its name begins with.
CLI::App* add_command(CLI::App& app, const CtlCommand& command, CommandFlags& flags) {
  CLI::App* parent = &app;
  std::string name(command.name);
  if (const auto blank = name.find(' '); blank != std::string::npos) {
    parent = app.get_subcommand(name.substr(0, blank));
    name.erase(0, blank + 1);
  }
  CLI::App* const added = parent->add_subcommand(name, std::string(command.summary));
  added->fallthrough();
  if (parent == &app) added->group(std::string(command.group));
  if (command.add_words != nullptr) command.add_words(*added, flags);
  if (command.run == nullptr) added->require_subcommand(1);
  return added;
}

constexpr std::size_t kNameWidth = 20;

std::string line_of(std::string_view name, std::string_view summary) {
  std::string line = "  " + std::string(name);
  line.resize(std::max(line.size() + 1, kNameWidth), ' ');
  return line + std::string(summary) + "\n";
}

// One screen: the commands by their groups, then the flags of all.
std::string program_help(const CLI::App& app) {
  std::string text = app.get_description() + "\nUsage: gpuwardctl COMMAND [WORDS] [FLAGS]\n";
  std::string group;
  for (const CLI::App* command : commands_of(app)) {
    // `completion` is of no group: it stands with the last, which are about the program.
    const bool is_new = command->get_group() != group && command->get_name() != "completion";
    if (is_new) text += command->get_group() + ":\n";
    group = command->get_group();
    text += line_of(command->get_name(), command->get_description());
  }
  return text + CLI::Formatter().make_groups(&app, CLI::AppFormatMode::Normal) + app.get_footer() +
         "\n";
}

std::vector<Example> examples() {
  std::vector<Example> all{{"", "gpuwardctl status\ngpuwardctl explain gpu-01 --context prod"},
                           {"completion",
                            "source <(gpuwardctl completion bash)\n"
                            "gpuwardctl completion zsh > ~/.gpuwardctl.zsh"}};
  for (const CtlCommand& command : ctl_commands()) all.push_back({command.name, command.examples});
  return all;
}

}  // namespace

std::variant<CtlLine, int> parse_ctl_line(int argc, const char* const* argv) {
  CtlLine line;
  CLI::App app("Shows what gpuward does with the nodes of a cluster, and tells it what to do.",
               "gpuwardctl");
  add_cluster_words(app, line.flags);
  app.set_version_flag("--version", "gpuwardctl " GPUWARD_VERSION)->group("");
  app.require_subcommand(1);
  Apps apps;
  for (const CtlCommand& command : ctl_commands())
    apps.emplace_back(add_command(app, command, line.flags), &command);
  app.formatter_fn([&app](const CLI::App* asked, std::string name, CLI::AppFormatMode mode) {
    return asked == &app ? program_help(app)
                         : CLI::Formatter().make_help(asked, std::move(name), mode);
  });
  if (argc < 2 || std::string_view(argv[1]) == "help") {
    std::cout << app.help();
    return 0;
  }
  const NameSource nodes{.type = kNodeType, .command = "list -o name"};
  if (const auto exit_code = parse_words(app, examples(), argc, argv, nodes)) return *exit_code;
  for (const auto& [command, meaning] : apps) {
    if (command->parsed()) line.command = meaning;
  }
  return line;
}

}  // namespace gpuward::remediator
