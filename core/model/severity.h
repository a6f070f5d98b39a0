// The severity of a finding, as an order: combined by max, compared by <. Used by both programs, in
// metrics (0..4), alert labels and the Remediation resource (lower-case names).
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

// The inverse, also for upper case and for PASS (= none); nullopt for anything else.
[[nodiscard]] std::optional<Severity> parse_severity(std::string_view text);

}  // namespace gpuward
