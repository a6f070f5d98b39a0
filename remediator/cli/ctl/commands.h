// All commands of gpuwardctl, in one table, from which --help, the completion, docs/gpuwardctl.md
// and the tests are made. A new command is a line there.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cli/commands/command_flags.h"

namespace gpuward::remediator {

struct CommandOutput {
  std::string text;
  bool all_done = true;  // if false, the program fails after printing the text
  // The text without changes of time alone, which --watch compares. None: the text.
  std::optional<std::string> ageless = {};
};

struct CtlCommand {
  std::string_view name;   // "policy check"
  std::string_view group;  // of --help
  std::string_view summary;
  std::string_view examples;  // one a line, as a user types them
  // Adds the command's own arguments and flags; null if it has none.
  void (*add_words)(CLI::App& command, CommandFlags& flags);
  // Null if it only has subcommands.
  Result<CommandOutput> (*run)(const CommandFlags& flags, Clock& clock);
  bool has_colours = false;  // in its tables, on a terminal
  bool asks_cluster = true;  // --help lists the flags that select it
  // Only for a command that removes something: returns the consequences. Such commands have
  // --dry-run and --yes, and ask before they start.
  Result<Foreseen> (*foresee)(const CommandFlags& flags, Clock& clock) = nullptr;
};

// Returns the commands in the order of --help; a subcommand comes after its parent.
[[nodiscard]] std::span<const CtlCommand> ctl_commands();
[[nodiscard]] std::span<const std::string_view> ctl_groups();

}  // namespace gpuward::remediator
