#include "exporter/checks/programs/program_check.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "core/runtime/child.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::seconds kProgramGrace{2};
// The time that the check has beyond the program's time-out, to end the program.
constexpr std::chrono::seconds kProgramEnd{10};
constexpr int kAllIsWell = 0;
constexpr int kHasFound = 1;

// Returns the program's output, else its errors, else how it ended.
std::string message_of(const ProgramSettings& program, const ChildResult& result) {
  for (const std::string_view text : {trim(result.output), trim(result.complaint)}) {
    if (!text.empty()) return to_valid_utf8(text, program.max_output);
  }
  return how_it_ended(result);
}

CheckOutcome outcome_of(const ProgramSettings& program, const ChildResult& result) {
  std::string message = message_of(program, result);
  if (result.exit_code == kAllIsWell) return CheckOutcome::done(std::move(message));
  if (result.exit_code != kHasFound) {
    const std::string ending = how_it_ended(result);
    return CheckOutcome::error(message == ending ? ending : ending + ": " + message);
  }
  Finding finding;
  finding.code = program.code;
  finding.severity = program.severity;
  finding.cleared_by = ClearedBy::kCheck;
  finding.line = message;
  finding.why = "the program of this check reported it; the configuration sets the severity";
  return CheckOutcome::done(std::move(message), {std::move(finding)});
}

// Parses the first line of a script: `#!/bin/bash` gives /bin/bash, `#!/usr/bin/env bash` gives env
// and bash.
std::vector<std::string> interpreters_of(const std::string& program) {
  constexpr std::size_t kLongestLine = 256;  // the kernel's limit
  std::ifstream file(program);
  std::string start(kLongestLine, '\0');
  file.read(start.data(), kLongestLine);
  start.resize(static_cast<std::size_t>(file.gcount()));
  if (!start.starts_with("#!")) return {};
  std::istringstream line(start.substr(2, start.find('\n') - 2));
  std::vector<std::string> words(std::istream_iterator<std::string>(line), {});
  const bool is_env = !words.empty() && words.front().ends_with("/env");
  if (is_env) {  // for example `env -S NAME=VALUE program`
    words.erase(std::remove_if(words.begin() + 1, words.end(),
                               [](const std::string& word) {
                                 return word.starts_with('-') || word.contains('=');
                               }),
                words.end());
  }
  words.resize(std::min<std::size_t>(words.size(), is_env ? 2 : 1));
  return words;
}

CheckPrograms programs_of(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  std::vector<std::string> all = interpreters_of(command.front());
  all.insert(all.begin(), command.front());
  return {.any_of = {std::move(all)}, .optional = {}};
}

class ProgramCheck final : public Check {
 public:
  explicit ProgramCheck(std::string name) : name_(std::move(name)) {}

  // Looks the program up by name, because the settings may have changed since the last run.
  CheckOutcome run(const CheckContext& context) override {
    const auto& programs = context.settings.programs;
    const auto program = std::ranges::find(programs, name_, &ProgramSettings::name);
    if (program == programs.end()) return CheckOutcome::skipped("not configured any more");
    ChildCommand command;
    command.program = program->command.front();
    command.arguments.assign(program->command.begin() + 1, program->command.end());
    command.search = context.settings.tool_dirs;
    command.timeout = program->timeout;
    command.grace = kProgramGrace;
    command.stop = context.stop;
    const auto result = run_child(command, context.clock);
    return result ? outcome_of(*program, *result) : CheckOutcome::error(result.error().message);
  }

 private:
  std::string name_;
};

}  // namespace

CheckEntry program_entry(const ProgramSettings& program) {
  return {.number = kProgramNumber,
          .name = program.name,
          .short_name = program.name,
          .suite = Suite::kNone,
          .rhythm = CheckEntry::Rhythm::kOwnInterval,
          .interval = program.interval,
          .timeout = program.timeout + kProgramEnd,
          .programs = [command =
                           program.command](const CheckSettings&) { return programs_of(command); },
          .make = [name = program.name]() -> std::unique_ptr<Check> {
            return std::make_unique<ProgramCheck>(name);
          }};
}

}  // namespace gpuward::exporter
