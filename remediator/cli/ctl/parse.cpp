#include "remediator/cli/ctl/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/command_line/completion.h"
#include "core/command_line/examples.h"
#include "core/command_line/suggestion.h"
#include "remediator/cli/ctl/words.h"

namespace gpuward::remediator {
namespace {

using Apps = std::vector<std::pair<CLI::App*, const CtlCommand*>>;

// Adds the command below the one that its name begins with.
CLI::App* add_command(CLI::App& app, const CtlCommand& command, CommandFlags& flags) {
  CLI::App* parent = &app;
  std::string name(command.name);
  if (const auto blank = name.find(' '); blank != std::string::npos) {
    parent = app.get_subcommand(name.substr(0, blank));
    name.erase(0, blank + 1);
  }
  CLI::App* const added = parent->add_subcommand(name, std::string(command.summary));
  added->fallthrough();
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

// Returns the flags of all commands that use the API server.
std::string cluster_help(const CLI::App& app) {
  return CLI::Formatter().make_group(std::string(kClusterGroup), false,
                                     app.get_options([](const CLI::Option* option) {
                                       return option->get_group() == kClusterGroup;
                                     }));
}

// Returns one screen: the commands by group, then the shared flags.
std::string program_help(const CLI::App& app) {
  std::string text = app.get_description() + "\nUsage: gpuwardctl COMMAND [WORDS] [FLAGS]\n";
  for (const std::string_view group : ctl_groups()) {
    text += std::string(group) + ":\n";
    for (const CtlCommand& command : ctl_commands()) {
      if (command.group == group && command.run != nullptr)
        text += line_of(command.name, command.summary);
    }
  }
  // It belongs to no group, so it follows the last one, which is about the program.
  const CLI::App* const completion = app.get_subcommand("completion");
  text += line_of(completion->get_name(), completion->get_description());
  return text + cluster_help(app) + "\n" + app.get_footer() + "\n";
}

// Adds the shared flags that the command takes, before the examples.
std::string command_help(const CLI::App& app, const CLI::App* asked, std::string name,
                         CLI::AppFormatMode mode, bool asks_cluster) {
  std::string text = CLI::Formatter().make_help(asked, std::move(name), mode);
  if (!asks_cluster) return text;
  const auto footer = text.find("\nExamples:");
  return text.insert(footer == std::string::npos ? text.size() : footer, cluster_help(app));
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
  CLI::App app("Inspect and control gpuward.", "gpuwardctl");
  add_cluster_words(app, line.flags);
  app.set_version_flag("--version", "gpuwardctl " GPUWARD_VERSION)->group("");
  app.require_subcommand(1);
  Apps apps;
  // Set before the commands are added, because they inherit it.
  app.formatter_fn([&](const CLI::App* asked, std::string name, CLI::AppFormatMode mode) {
    if (asked == &app) return program_help(app);
    const auto known = std::ranges::find(apps, asked, [](const auto& one) { return one.first; });
    const bool asks_cluster = known != apps.end() && known->second->asks_cluster;
    return command_help(app, asked, std::move(name), mode, asks_cluster);
  });
  for (const CtlCommand& command : ctl_commands())
    apps.emplace_back(add_command(app, command, line.flags), &command);
  const char* const help[] = {"gpuwardctl", "--help"};
  if (argc < 2 || std::string_view(argv[1]) == "help") {
    argc = 2;
    argv = help;
  }
  constexpr std::array kNames{NameSource{.type = kNodeType, .command = "list --all -o nodes"},
                              NameSource{.type = kAlertType, .command = "runbook -o name"}};
  if (const auto exit_code = parse_words(app, examples(), argc, argv, kNames)) return *exit_code;
  for (const auto& [command, meaning] : apps) {
    if (command->parsed()) line.command = meaning;
  }
  return line;
}

}  // namespace gpuward::remediator
