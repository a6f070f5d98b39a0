// What one run of a check amounts to. Made by the exporter's runner, kept in its store, published
// as metrics, labels and JSON files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/finding.h"
#include "core/model/severity.h"

namespace gpuward {

// `kError`: the check could not tell. It is never a failure, and never takes a finding away.
// `kSkip`: it does not apply here, or its preconditions are not met.
enum class CheckStatus : std::uint8_t { kPass, kWarn, kFail, kSkip, kError };

// "pass", "warn", "fail", "skip", "error".
[[nodiscard]] constexpr std::string_view to_string(CheckStatus status) {
  constexpr std::string_view kNames[] = {"pass", "warn", "fail", "skip", "error"};
  return kNames[static_cast<std::size_t>(status)];
}

// What a run could not look at, though it could tell otherwise: the findings there stay. Empty
// means any code, any device.
struct Untold {
  std::string code;
  std::string pci_bus_id;
  [[nodiscard]] bool covers(const Finding& finding) const {
    return (code.empty() || code == finding.code) &&
           (pci_bus_id.empty() || pci_bus_id == finding.pci_bus_id);
  }
};

// What a run has found under one of two codes, by whether a second source agrees. They contradict
// each other: the confirmed one replaces the other.
struct Suspected {
  std::string confirmed, unconfirmed;
  std::string pci_bus_id;
};

// A second witness for a finding of the kernel log, up to this severity.
struct Witnessed {
  std::string check, code, pci_bus_id;
  Severity severity = Severity::kNone;
  std::string by;
};

// A GPU that has been reset by the word of its driver, and that was read since without a fault.
struct Recovered {
  std::string code;  // "succeeded", "ring_reset_succeeded"
  std::string pci_bus_id;
  WallTime at;  // of the reset
};

// A GPU whose counted errors the thresholds allow: what the kernel log said of such errors before
// `read_at` is worth no more.
struct AllowedErrors {
  std::string pci_bus_id;
  WallTime read_at;
  std::string why;
};

struct CheckResult {
  std::string check;  // "0-nvidia-smi": the number and name of the suite that gpuward replaces
  CheckStatus status = CheckStatus::kError;
  Severity severity = Severity::kNone;  // the worst of its findings; none for skip
  std::string details;                  // for people: valid UTF-8, at most 1 KiB
  WallTime started;
  std::chrono::milliseconds duration{0};
  std::vector<Finding> findings;
  std::vector<Untold> untold;
  std::vector<Suspected> suspected;
  std::vector<Witnessed> witnessed;
  std::vector<Recovered> recovered;
  std::vector<AllowedErrors> allowed;
  // Why no job should start here, although it may be no reason to do anything to the node: a GPU
  // that the driver alone says is lost. Empty: nothing speaks against one.
  std::string no_job;
  // The check runs no more: its findings go that only its next run would clear.
  bool is_withdrawn = false;
};

}  // namespace gpuward
