#include "tests/reference/help.h"

#include <gtest/gtest.h>

#include <ostream>
#include <regex>
#include <sstream>
#include <vector>

#include "tests/places.inc"
#include "tests/support/process.h"

namespace gpuward::reference {
namespace {

// gpuwardctl's own flags, which the --help of its commands repeats.
constexpr std::string_view kFlagsOfAll = "Which cluster:";

std::string help_of(const std::string& program, const std::string& command) {
  std::vector<std::string> argv = {GPUWARD_BIN_DIR "/" + program};
  std::istringstream words(command);
  for (std::string word; words >> word;) argv.push_back(word);
  argv.emplace_back("--help");
  const auto said = support::Process::run({.argv = argv});
  EXPECT_TRUE(said && said->exit_code == 0) << program << " " << command;
  return said ? said->output : "";
}

// `  --log.level TEXT=info (Env:LOG_LEVEL)`, perhaps with REQUIRED before the variable, and text
// after it.
Flag read_flag(const std::string& command, const std::string& line) {
  static const std::regex kHead(
      R"(^  (\S+)( (TEXT|INT|FLOAT|NODE|ALERT)(:[^=( ]*( in \[[^\]]*\])?)?)"  // name, argument and
                                                                              // its range
      R"((=(\[[^\]]*\]|\S+))?( \.\.\.)?(?: REQUIRED)?)?( \(Env:(\w+)\))?.*)");
  std::smatch found;
  if (!std::regex_match(line, found, kHead)) {
    ADD_FAILURE() << "not understood: " << line;
    return {};
  }
  return {.command = command,
          .name = found[1],
          .argument = found[3].str() + found[8].str(),
          .preset = found[7],
          .environment = found[10]};
}

void read_help(const std::string& program, const std::string& command, std::set<Flag>& flags) {
  std::istringstream lines(help_of(program, command));
  std::string section;
  std::set<std::string> commands;  // only the first word of "exclusions list"
  std::size_t found = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_entry = line.starts_with("  ") && line.size() > 2 && line[2] != ' ';
    if (!line.starts_with(" ")) section = line;
    if (!is_entry || line.starts_with("  -h,--help")) continue;
    const bool is_of_all = section == kFlagsOfAll;
    if (is_of_all && !command.empty()) continue;
    if (section == "Options:" || section == "Positionals:" || is_of_all) {
      flags.insert(read_flag(command, line));
      ++found;
    } else if (section.ends_with(":") && section != "Examples:") {  // a group of commands
      commands.insert((command.empty() ? "" : command + " ") +
                      line.substr(2, line.find(' ', 2) - 2));
    }
  }
  if (found == 0) flags.insert({.command = command});
  for (const std::string& next : commands) read_help(program, next, flags);
}

}  // namespace

void PrintTo(const Flag& flag, std::ostream* out) {
  *out << "[" << flag.command << "] " << flag.name << " " << flag.argument << " = " << flag.preset
       << " (" << flag.environment << ")";
}

std::set<Flag> flags_of(const std::string& program) {
  std::set<Flag> flags;
  read_help(program, "", flags);
  return flags;
}

}  // namespace gpuward::reference
