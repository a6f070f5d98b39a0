// The outcome of the call by which a step asks another system to restart, terminate or reset a
// machine, as its record has it. A failure counts against the machine only if the call was
// accepted: a call that was refused, or perhaps never made, says nothing about it. Pure; used by
// the steps, decide() and the budgets.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

enum class Call : std::uint8_t {
  // Written with the intent. It stays if the process died before it recorded the answer, or if no
  // answer came. Records of versions before this fact have no value, which means this one.
  kUnknown,
  kAccepted,  // stays, whatever is learned later
  kNone,      // provably nothing was accepted: the call was refused or not made
};

inline const std::string kCallFact = "call";
// Fact of a Job that ran out of time and still exists, because it could not be deleted then.
inline const std::string kJobLeftFact = "jobLeft";
// Fact of a Job: its container was started.
inline const std::string kHasRunFact = "hasRun";
// The step treated the machine before this intent: "done" or "failed", as that record ended.
inline const std::string kTreatedFact = "treated";

[[nodiscard]] std::string_view to_string(Call call);  // "unknown", "accepted", "none"
[[nodiscard]] Call call_of(const StepRecord& record);
// Whether the step may have treated the machine, as far as its record tells.
[[nodiscard]] bool has_treated(const StepRecord& record);

// How long an unanswered restart may still begin. EC2 forces a restart that the system does not do
// by itself "within a few minutes"; twice that is allowed.
inline constexpr std::chrono::minutes kLateRestart{10};

}  // namespace gpuward::remediator
