// The outcome of the call by which a step asks another system to restart, terminate or reset a
// machine. A failure counts against the machine only if the other system accepted the call. A call
// that was refused, or perhaps never made, says nothing about the machine. Pure; used by the steps,
// decide() and the budgets.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

enum class Call : std::uint8_t {
  // Written with the intent. It stays if the process died before it recorded the answer, or if no
  // answer came. Records of older versions have no value, which also means kUnknown.
  kUnknown,
  kAccepted,  // The other system accepted the call; later facts do not change this.
  kNone,      // The call was refused or not made, which is proven.
};

inline const std::string kCallFact = "call";
// Fact of a Job that ran out of time and still exists because it could not be deleted.
inline const std::string kJobLeftFact = "jobLeft";
// Fact of a Job: its container was started.
inline const std::string kHasRunFact = "hasRun";
// The step treated the machine before this intent: "done" or "failed", the result of that record.
inline const std::string kTreatedFact = "treated";

[[nodiscard]] std::string_view to_string(Call call);  // "unknown", "accepted", "none"
[[nodiscard]] Call call_of(const StepRecord& record);
// Returns whether the record allows that the step has treated the machine.
[[nodiscard]] bool has_treated(const StepRecord& record);

// How long an unanswered restart may still begin. EC2 forces a restart "within a few minutes" if
// the system does not restart by itself; this is twice that time.
inline constexpr std::chrono::minutes kLateRestart{10};

}  // namespace gpuward::remediator
