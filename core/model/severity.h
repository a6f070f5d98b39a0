// The severity of a finding. Severities are ordered: combine them by max, compare them by <. Both
// programs use them, in metrics (0..4), alert labels and the Remediation resource (lower-case
// names).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuward {

enum class Severity : std::uint8_t {
  kNone = 0,
  kMonitor = 1,
  kReset = 2,
  kReboot = 3,
  kIsolate = 4
};

// "none", "monitor", "reset", "reboot", "isolate".
[[nodiscard]] std::string_view to_string(Severity severity);

// The inverse of to_string; also reads upper case and PASS (= none). nullopt for anything else.
[[nodiscard]] std::optional<Severity> parse_severity(std::string_view text);

}  // namespace gpuward
