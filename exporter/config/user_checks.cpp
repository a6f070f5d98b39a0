#include "exporter/config/user_checks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/xid/event.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/check/finding_codes.h"

namespace gpuward::exporter {
namespace {

using Limits = ProgramLimits;

constexpr std::size_t kMostNameBytes = 63;
const auto kLineSeverities = yaml_words<Severity, 5>();
const auto kLineClearedBy = yaml_words<ClearedBy, 5>();  // kCheck is not for lines

bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

// The names become labels of metrics, file names and arguments of commands.
bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMostNameBytes && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char letter) {
           return is_letter(letter) || (letter >= '0' && letter <= '9') || letter == '.' ||
                  letter == '_' || letter == '-';
         });
}

// Returns whether gpuward itself uses this name for findings or checks.
bool is_taken(std::string_view name) {
  for (int kind = 0; kind <= static_cast<int>(xid::Kind::kRule); ++kind) {
    if (name == xid::to_string(static_cast<xid::Kind>(kind))) return true;
  }
  return name == kGpuCheck || std::ranges::any_of(all_checks(), [&](const CheckEntry& entry) {
           return name == entry.name || name == entry.short_name;
         });
}

ProgramSettings read_program(const YamlMap& map) {
  ProgramSettings program;
  map.require("name", program.name, "name of the check");
  const auto fault = fault_of_check_name(program.name);
  if (fault && !program.name.empty()) map.reject("name", *fault);
  map.read("command", program.command,
           "the program and its arguments, run without a shell; the program is looked up on PATH; "
           "required");
  if (program.command.empty() || program.command.front().empty())
    map.reject("command", "must contain the program, followed by its arguments");
  map.read("interval", program.interval, Limits::kShortestInterval, Limits::kLongestInterval,
           "time between the starts of two runs");
  map.read("timeout", program.timeout, Limits::kShortestTimeout, Limits::kLongestTimeout,
           "time limit; then the exporter kills the process group, and the check ends with status "
           "error");
  map.read("max_output", program.max_output, 1, Limits::kMostOutputBytes,
           "how many bytes of the output are kept");
  map.read("code", program.code, "code of the finding when the program exits with 1");
  if (const auto wrong = fault_of_code(program.code)) map.reject("code", *wrong);
  map.read_word("severity", program.severity, kFindingSeverities, "severity of that finding");
  return program;
}

}  // namespace

std::optional<std::string> fault_of_code(std::string_view code) {
  if (is_name(code)) return std::nullopt;
  return "must begin with a letter, contain only letters, digits, `.`, `_` and `-`, and have at "
         "most 63 characters";
}

std::optional<std::string> fault_of_check_name(std::string_view name) {
  if (is_taken(name)) return "is the name of a built-in check: choose another name";
  return fault_of_code(name);
}

void read_programs(const YamlMap& checks, std::vector<ProgramSettings>& programs) {
  for (const YamlMap& item : checks.maps("programs", "your own programs as checks")) {
    ProgramSettings program = read_program(item);
    const bool is_double =
        std::ranges::find(programs, program.name, &ProgramSettings::name) != programs.end();
    if (is_double && !program.name.empty()) item.reject("name", "is listed twice");
    programs.push_back(std::move(program));
  }
  if (programs.size() > Limits::kMostPrograms)
    checks.reject("programs",
                  "has more than " + std::to_string(Limits::kMostPrograms) + " programs");
}

void read_line_rules(const YamlMap& kernel_log, LineRules& rules) {
  std::vector<LineRule> read;
  bool is_good = true;
  for (const YamlMap& item : kernel_log.maps("rules", "your own patterns for kernel lines")) {
    LineRule rule;
    item.require("code", rule.code, "code of the finding and of the line counter");
    const auto wrong = fault_of_code(rule.code);
    if (wrong && !rule.code.empty()) item.reject("code", *wrong);
    item.require("pattern", rule.pattern,
                 "RE2 regular expression, matched anywhere in the message");
    const auto fault = fault_of_pattern(rule.pattern);
    if (fault && !rule.pattern.empty()) item.reject("pattern", *fault);
    is_good = is_good && !fault;
    item.read_word("severity", rule.severity, kLineSeverities,
                   "severity of the finding; `none`: lines are only counted");
    item.read_word("cleared_by", rule.cleared_by, kLineClearedBy, "what clears the finding");
    read.push_back(std::move(rule));
  }
  auto compiled = is_good ? LineRules::compile(std::move(read)) : LineRules();
  if (!compiled) return kernel_log.reject("rules", compiled.error().message);
  rules = *std::move(compiled);
}

}  // namespace gpuward::exporter
