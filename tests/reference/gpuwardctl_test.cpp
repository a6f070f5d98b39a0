// docs/gpuwardctl.md: its tables are generated from the table of commands; `./dev docs` writes them
// again.
#include <gmock/gmock.h>

#include <CLI/CLI.hpp>

#include "remediator/cli/ctl/commands.h"
#include "remediator/cli/ctl/words.h"
#include "tests/reference/page.h"

namespace gpuward::reference {
namespace {

using remediator::CommandFlags;
using remediator::CtlCommand;

constexpr const char* kCtlPage = "docs/gpuwardctl.md";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

// `-n,--namespace NS`
std::string name_of(const CLI::Option& option) { return option.get_name(false, true); }

std::string row_of(const std::string& command, const CLI::Option& option) {
  const auto cell = [](const std::string& text) {
    return text.empty() ? std::string(" |") : " `" + text + "` |";
  };
  return "|" + cell(command) + cell(name_of(option)) + cell(option.get_default_str()) +
         cell(option.get_envname()) + " " + escaped(option.get_description()) + " |\n";
}

std::string rows_of(const std::string& command, void (*add_words)(CLI::App&, CommandFlags&)) {
  CLI::App app;
  CommandFlags flags;
  if (add_words != nullptr) add_words(app, flags);
  std::string rows;
  for (const CLI::Option* option : app.get_options()) {
    if (option != app.get_help_ptr()) rows += row_of(command, *option);
  }
  return rows;
}

std::string flag_table(const std::string& /*mark*/) {
  std::string rows = rows_of("", remediator::add_cluster_words);
  for (const CtlCommand& command : remediator::ctl_commands())
    rows += rows_of(std::string(command.name), command.add_words);
  return "| command | word or flag | default | environment | meaning |\n|---|---|---|---|---|\n" +
         rows;
}

std::string examples_of(const CtlCommand& command) {
  std::string cell;
  std::istringstream lines{std::string(command.examples)};
  for (std::string line; std::getline(lines, line);)
    cell += (cell.empty() ? "`" : "<br>`") + escaped(line) + "`";
  return cell;
}

std::string command_table(const std::string& /*mark*/) {
  std::string rows;
  for (const CtlCommand& command : remediator::ctl_commands()) {
    rows += "| " + std::string(command.group) + " | `" + std::string(command.name) + "` | " +
            std::string(command.summary) + " | " + examples_of(command) + " |\n";
  }
  return "| | command | what it does | examples |\n|---|---|---|---|\n" + rows;
}

TEST(GeneratedCtl, CommandsAreThoseOfTheTable) {
  expect_tables(kCtlPage, "<!-- commands of gpuwardctl -->", command_table);
}

TEST(GeneratedCtl, FlagsAreThoseOfTheTable) {
  expect_tables(kCtlPage, "<!-- flags of gpuwardctl -->", flag_table);
}

}  // namespace
}  // namespace gpuward::reference
