// What became of the call by which a step asks somebody else to restart, end or reset a machine, as
// its record says it. A failure counts against the machine only where the call was accepted: what
// was refused, or perhaps never asked for, says nothing of it. Pure; used by the steps, decide()
// and the budgets.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

enum class Call : std::uint8_t {
  // Written with the intent. It stays where the process died before the answer was written down, or
  // where no answer came. Records of versions before this fact say nothing, and mean this.
  kUnknown,
  kAccepted,  // never forgotten, whatever is heard later
  kNone,      // provably nothing was accepted: it was refused, or not asked for
};

inline const std::string kCallFact = "call";
// Of a Job whose time is over: it is there still, because it might not be deleted then.
inline const std::string kJobLeftFact = "jobLeft";
// Of a Job: its container has been started.
inline const std::string kHasRunFact = "hasRun";
// The step has treated the machine before this intent: "done" or "failed", as that record ended.
inline const std::string kTreatedFact = "treated";

[[nodiscard]] std::string_view to_string(Call call);  // "unknown", "accepted", "none"
[[nodiscard]] Call call_of(const StepRecord& record);
// Whether the machine was treated by that step of that Remediation, for all that is known.
[[nodiscard]] bool has_treated(const StepRecord& record);

// How long a restart of which no answer came may still begin. EC2 forces one that the system does
// not do by itself "within a few minutes"; twice that is allowed.
inline constexpr std::chrono::minutes kLateRestart{10};

}  // namespace gpuward::remediator
