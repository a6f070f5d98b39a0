#include "remediator/ctl/parse.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/command_line/completion.h"
#include "core/command_line/examples.h"
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
  if (command.add_words != nullptr) command.add_words(*added, flags);
  if (command.run == nullptr) added->require_subcommand(1);
  return added;
}

std::vector<Example> examples() {
  std::vector<Example> all{{"", "gpuwardctl list\ngpuwardctl explain gpu-01 --context prod"},
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
  app.set_version_flag("--version", "gpuwardctl " GPUWARD_VERSION);
  app.require_subcommand(1);
  Apps apps;
  for (const CtlCommand& command : ctl_commands())
    apps.emplace_back(add_command(app, command, line.flags), &command);
  if (const auto exit_code = parse_words(app, examples(), argc, argv)) return *exit_code;
  for (const auto& [command, meaning] : apps) {
    if (command->parsed()) line.command = meaning;
  }
  return line;
}

}  // namespace gpuward::remediator
