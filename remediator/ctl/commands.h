// All commands of gpuwardctl, in one table: what --help, the completion, docs/gpuwardctl.md and the
// tests are made of. A new one is a line there.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"

namespace gpuward::remediator {

struct CommandOutput {
  std::string text;
  bool all_done = true;  // else the program fails after it has printed that
  // The text without what changes with time alone: what --watch compares. None: the text.
  std::optional<std::string> ageless = {};
};

struct CtlCommand {
  std::string_view name;   // "policy check"
  std::string_view group;  // of --help
  std::string_view summary;
  std::string_view examples;  // a line each, as they would be typed
  // Adds its own words and flags; null where it has none.
  void (*add_words)(CLI::App& command, CommandFlags& flags);
  // Null where it only has others below it.
  Result<CommandOutput> (*run)(const CommandFlags& flags, Clock& clock);
  bool has_colours = false;  // of its tables, on a terminal
  bool asks_cluster = true;  // --help names the flags that say which
  // A command that takes something away has this, which says the consequences. It has --dry-run and
  // --yes, and wants an answer before it begins.
  Result<Foreseen> (*foresee)(const CommandFlags& flags, Clock& clock) = nullptr;
};

// In the order in which --help names them; one below another comes after it.
[[nodiscard]] std::span<const CtlCommand> ctl_commands();
[[nodiscard]] std::span<const std::string_view> ctl_groups();

}  // namespace gpuward::remediator
