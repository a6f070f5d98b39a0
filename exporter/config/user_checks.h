// Additions of operators: their own programs as checks (checks.programs), and rules on lines of the
// kernel log (kernel_log.rules). Used by the settings; node-problem-detector's files become the
// same (npd_config.h).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/yaml.h"
#include "exporter/checks/check/check_settings.h"
#include "exporter/kernel_log/line_rules.h"

namespace gpuward::exporter {

// Limits for an operator's program.
struct ProgramLimits {
  static constexpr std::size_t kMostPrograms = 32;
  static constexpr std::chrono::seconds kShortestInterval{5}, kShortestTimeout{1};
  static constexpr std::chrono::hours kLongestInterval{7 * 24}, kLongestTimeout{1};
  // The details of a check and the line of a finding are limited to this size.
  static constexpr std::size_t kMostOutputBytes = 1024;
};

// Severities of findings, without none.
inline constexpr auto kFindingSeverities =
    std::to_array<YamlWord<Severity>>({{"monitor", Severity::kMonitor},
                                       {"reset", Severity::kReset},
                                       {"reboot", Severity::kReboot},
                                       {"isolate", Severity::kIsolate}});

// Return why the name cannot be the code of a finding or the name of a check; nullopt if it can.
[[nodiscard]] std::optional<std::string> fault_of_code(std::string_view code);
[[nodiscard]] std::optional<std::string> fault_of_check_name(std::string_view name);

// Read `checks.programs` and `kernel_log.rules`. Errors are reported in the file.
void read_programs(const YamlMap& checks, std::vector<ProgramSettings>& programs);
void read_line_rules(const YamlMap& kernel_log, LineRules& rules);

}  // namespace gpuward::exporter
