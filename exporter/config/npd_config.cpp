#include "exporter/config/npd_config.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/yaml_scalars.h"
#include "exporter/config/settings.h"
#include "exporter/config/user_checks.h"
#include "exporter/publish/node/node_settings.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

// The defaults of node-problem-detector (pkg/custompluginmonitor/types/config.go).
constexpr milliseconds kNpdInterval = std::chrono::seconds(30);
constexpr milliseconds kNpdTimeout = std::chrono::seconds(5);
constexpr std::int64_t kNpdOutputBytes = 80;

// The content of all files.
struct NpdMonitors {
  std::vector<ProgramSettings> programs;
  std::vector<LineRule> rules;
  std::set<std::string> conditions;  // of permanent rules
};

// One file. The first error ends the parsing.
class NpdFile {
 public:
  NpdFile(Json root, const std::map<std::string, Severity>& severities, NpdMonitors& monitors)
      : root_(std::move(root)), severities_(severities), monitors_(monitors) {}

  Status read() {
    const std::string plugin = string_at(root_, "plugin");
    const bool is_custom = plugin == "custom";
    if (!is_custom && !reads_kernel_log(plugin)) {
      return fail(ErrorKind::kInvalid,
                  "plugin: gpuward replaces only custom plug-ins and kernel-log plug-ins (such as "
                  "kmsg): leave this file to node-problem-detector");
    }
    const Json& rules = member_at(root_, "rules");
    if (!rules.is_array()) return fail(ErrorKind::kInvalid, "rules: is not a list");
    // Permanent rules first, because of add().
    for (const bool is_permanent : {true, false}) {
      std::size_t number = 0;
      for (const Json& rule : rules) {
        const std::string place = "rules[" + std::to_string(number++) + "]";
        if ((string_at(rule, "type") == "permanent") != is_permanent) continue;
        const Status status = is_custom ? read_program(rule) : read_pattern(rule);
        if (!status) return with_context(place, status.error());
      }
    }
    return {};
  }

 private:
  [[nodiscard]] bool reads_kernel_log(const std::string& plugin) const {
    const Json& config = member_at(root_, "pluginConfig");
    if (plugin == "journald") return string_at(config, "source") == "kernel";
    return plugin == "kmsg" ||
           (plugin == "filelog" && string_at(root_, "logPath").ends_with("/kern.log"));
  }

  // Returns the condition of a permanent rule; empty for a temporary one.
  Result<std::string> condition_of(const Json& rule) {
    const std::string type = string_at(rule, "type");
    if (type == "temporary") return std::string();
    if (type != "permanent")
      return fail(ErrorKind::kInvalid, "type: must be permanent or temporary");
    std::string condition = string_at(rule, "condition");
    if (condition.empty()) return fail(ErrorKind::kInvalid, "condition: is missing");
    monitors_.conditions.insert(condition);
    return condition;
  }

  // A rule for the condition that the exporter itself sets must be severe enough to set it.
  [[nodiscard]] Severity severity_of(const std::string& condition) const {
    const auto mapped = severities_.find(condition);
    if (mapped != severities_.end()) return mapped->second;
    return condition == kConditionType ? Severity::kReset : Severity::kMonitor;
  }

  Status read_pattern(const Json& rule) {
    const auto condition = condition_of(rule);
    if (!condition) return std::unexpected(condition.error());
    LineRule made;
    made.code = string_at(rule, "reason");
    if (const auto fault = fault_of_code(made.code))
      return fail(ErrorKind::kInvalid, "reason: " + *fault);
    const std::string pattern = string_at(rule, "pattern");
    if (pattern.contains("\\n") || pattern.contains('\n'))
      return fail(ErrorKind::kInvalid, "pattern: spans several lines; match only one of them");
    made.pattern = pattern + "\\z";  // as in node-problem-detector: to the end of the line
    if (const auto fault = fault_of_pattern(made.pattern))
      return fail(ErrorKind::kInvalid, "pattern: " + *fault);
    made.severity = condition->empty() ? Severity::kNone : severity_of(*condition);
    monitors_.rules.push_back(std::move(made));
    return {};
  }

  Status read_program(const Json& rule) {
    const auto condition = condition_of(rule);
    if (!condition) return std::unexpected(condition.error());
    ProgramSettings program;
    program.code = string_at(rule, "reason");
    if (const auto fault = fault_of_code(program.code))
      return fail(ErrorKind::kInvalid, "reason: " + *fault);
    program.command = {string_at(rule, "path")};
    if (program.command.front().empty()) return fail(ErrorKind::kInvalid, "path: is missing");
    for (const Json& argument : member_at(rule, "args")) {
      if (!argument.is_string()) return fail(ErrorKind::kInvalid, "args: must be strings");
      program.command.push_back(argument.get<std::string>());
    }
    if (!condition->empty()) program.severity = severity_of(*condition);
    if (auto status = read_times(rule, program); !status) return status;
    return add(std::move(program), *condition);
  }

  Status read_times(const Json& rule, ProgramSettings& program) {
    const Json& global = member_at(root_, "pluginConfig");
    const auto interval = duration_at(global, "invoke_interval", kNpdInterval);
    const auto own_interval = duration_at(rule, "invoke_interval", interval.value_or(kNpdInterval));
    const auto timeout = duration_at(global, "timeout", kNpdTimeout);
    const auto own_timeout = duration_at(rule, "timeout", timeout.value_or(kNpdTimeout));
    for (const auto* read : {&interval, &own_interval, &timeout, &own_timeout}) {
      if (!*read) return std::unexpected(read->error());
    }
    program.interval = std::clamp<milliseconds>(*own_interval, ProgramLimits::kShortestInterval,
                                                ProgramLimits::kLongestInterval);
    program.timeout =
        std::clamp<milliseconds>(std::min(*timeout, *own_timeout), ProgramLimits::kShortestTimeout,
                                 ProgramLimits::kLongestTimeout);
    const Json& length = member_at(global, "max_output_length");
    const std::int64_t bytes =
        length.is_number_integer() ? length.get<std::int64_t>() : kNpdOutputBytes;
    program.max_output = static_cast<std::size_t>(std::clamp<std::int64_t>(
        bytes, 1, static_cast<std::int64_t>(ProgramLimits::kMostOutputBytes)));
    return {};
  }

  static Result<milliseconds> duration_at(const Json& object, std::string_view key,
                                          milliseconds fallback) {
    const Json& member = member_at(object, key);
    if (member.is_null()) return fallback;
    const auto duration = parse_duration(string_at(object, key));
    if (duration) return *duration;
    return fail(ErrorKind::kInvalid,
                std::string(key) + ": must be a duration such as 30s or 1m30s");
  }

  // Names a check after its condition, or after the reason of a temporary rule, and numbers further
  // checks of that name. A temporary rule does not run the command of a permanent rule again.
  Status add(ProgramSettings program, const std::string& condition) {
    auto& programs = monitors_.programs;
    const auto has = [&programs](auto field, const auto& value) {
      return std::ranges::find(programs, value, field) != programs.end();
    };
    if (condition.empty() && has(&ProgramSettings::command, program.command)) return {};
    const std::string& base = condition.empty() ? program.code : condition;
    program.name = base;
    for (int number = 2; has(&ProgramSettings::name, program.name); ++number)
      program.name = base + "-" + std::to_string(number);
    if (const auto fault = fault_of_check_name(program.name))
      return fail(ErrorKind::kInvalid, program.name + ": " + *fault);
    programs.push_back(std::move(program));
    return {};
  }

  Json root_;
  const std::map<std::string, Severity>& severities_;
  NpdMonitors& monitors_;
};

Result<std::vector<std::filesystem::path>> files_at(const std::filesystem::path& place) {
  std::error_code error;
  if (!std::filesystem::is_directory(place, error)) return std::vector{place};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(place, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (error) return fail(ErrorKind::kUnavailable, place.string() + ": " + error.message());
  std::ranges::sort(files);
  return files;
}

Status read_npd_file(const std::filesystem::path& path,
                     const std::map<std::string, Severity>& severities, NpdMonitors& monitors) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  auto root = parse_json(*text);
  if (!root) return with_context(path.string(), root.error());
  const Status status = NpdFile(*std::move(root), severities, monitors).read();
  if (!status) return with_context(path.string(), status.error());
  return {};
}

Status add_monitors(NpdMonitors monitors, Settings& settings) {
  for (const auto& [condition, severity] : settings.npd_severities) {
    if (!monitors.conditions.contains(condition))
      return fail(ErrorKind::kInvalid,
                  "npd.severities: no permanent rule in the files of "
                  "--npd.config has the condition " +
                      condition);
  }
  std::vector<ProgramSettings> programs = settings.checks.programs;
  for (ProgramSettings& program : monitors.programs) {
    if (std::ranges::find(programs, program.name, &ProgramSettings::name) != programs.end())
      return fail(ErrorKind::kInvalid, "--npd.config: checks.programs already has a check " +
                                           program.name + "; rename it there");
    programs.push_back(std::move(program));
  }
  if (programs.size() > ProgramLimits::kMostPrograms)
    return fail(ErrorKind::kInvalid, "--npd.config and checks.programs together have more than " +
                                         std::to_string(ProgramLimits::kMostPrograms) +
                                         " programs");
  std::vector<LineRule> rules = settings.line_rules.all();
  std::ranges::move(monitors.rules, std::back_inserter(rules));
  auto compiled = LineRules::compile(std::move(rules));
  if (!compiled) return with_context("--npd.config", compiled.error());
  settings.checks.programs = std::move(programs);
  settings.line_rules = *std::move(compiled);
  return {};
}

}  // namespace

Status add_npd_configs(const std::vector<std::filesystem::path>& places, Settings& settings) {
  NpdMonitors monitors;
  for (const std::filesystem::path& place : places) {
    const auto files = files_at(place);
    if (!files) return std::unexpected(files.error());
    for (const std::filesystem::path& file : *files) {
      if (auto status = read_npd_file(file, settings.npd_severities, monitors); !status)
        return status;
    }
  }
  return add_monitors(std::move(monitors), settings);
}

}  // namespace gpuward::exporter
