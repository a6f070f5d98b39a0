// The result of one run of a check. The exporter's runner makes it, the store keeps it, and it is
// published as metrics, labels and JSON files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.h"
#include "core/model/severity.h"

namespace gpuward {

// `kError`: the check could not tell. It is never a failure and never clears a finding. `kSkip`:
// the check does not apply here, or its preconditions are not met.
enum class CheckStatus : std::uint8_t { kPass, kWarn, kFail, kSkip, kError };

// "pass", "warn", "fail", "skip", "error".
[[nodiscard]] constexpr std::string_view to_string(CheckStatus status) {
  constexpr std::string_view kNames[] = {"pass", "warn", "fail", "skip", "error"};
  return kNames[static_cast<std::size_t>(status)];
}

// A part that a run could not check, although it could check the rest; the findings there stay. An
// empty field means any code or any device.
struct Untold {
  std::string code;
  std::string pci_bus_id;
  [[nodiscard]] bool covers(const Finding& finding) const {
    return (code.empty() || code == finding.code) &&
           (pci_bus_id.empty() || pci_bus_id == finding.pci_bus_id);
  }
};

// A fault that a run found, under one of two codes: `confirmed` if a second source agrees, else
// `unconfirmed`. The two contradict each other: the confirmed one replaces the other.
struct Suspected {
  std::string confirmed, unconfirmed;
  std::string pci_bus_id;
};

// A second source that confirms a finding of the kernel log, up to this severity.
struct Witnessed {
  std::string check, code, pci_bus_id;
  Severity severity = Severity::kNone;
  std::string by;
};

// A GPU whose driver reported a reset and which a check has read without a fault since.
struct Recovered {
  std::string code;  // "succeeded", "ring_reset_succeeded"
  std::string pci_bus_id;
  WallTime at;  // of the reset
};

// A GPU whose error counts are within the thresholds: lines of the kernel log about such errors
// from before `read_at` no longer count.
struct AllowedErrors {
  std::string pci_bus_id;
  WallTime read_at;
  std::string why;
};

struct CheckResult {
  std::string check;  // "0-nvidia-smi": the number and name of the suite that gpuward replaces
  CheckStatus status = CheckStatus::kError;
  Severity severity = Severity::kNone;  // the worst of its findings; none for skip
  std::string details;                  // for operators: valid UTF-8, at most 1 KiB
  WallTime started;
  std::chrono::milliseconds duration{0};
  std::vector<Finding> findings;
  std::vector<Untold> untold;
  std::vector<Suspected> suspected;
  std::vector<Witnessed> witnessed;
  std::vector<Recovered> recovered;
  std::vector<AllowedErrors> allowed;
  // Why no job should start here, although the node itself may need no action: a GPU that only the
  // driver reports as lost. Empty if jobs may start.
  std::string no_job;
  // The check is no longer run: the findings that only its next run would clear are removed.
  bool is_withdrawn = false;
};

}  // namespace gpuward
