// How a step reports its progress, and the facts that it reads from its own record. Used by the
// steps that request an action from another system and wait for the result. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/model/step_call.h"
#include "remediator/model/step_facts.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {

// Returns whether the API server will refuse again until an operator fixes the cause.
[[nodiscard]] inline bool is_final(ErrorKind kind) {
  return kind == ErrorKind::kInvalid || kind == ErrorKind::kForbidden ||
         kind == ErrorKind::kNotFound || kind == ErrorKind::kRefused ||
         kind == ErrorKind::kTooLarge;
}

// Returns whether an admission policy of gpuward refused the call. The step then waits. During an
// upgrade, program and policy may have different versions, and jobs.image may differ from the image
// that the policy expects.
[[nodiscard]] inline bool is_refused_by_own_policy(const Error& why) {
  return why.message.contains("ValidatingAdmissionPolicy 'gpuward-");
}

// Returns progress with the step's own facts unchanged.
[[nodiscard]] inline StepProgress progress_of(const StepRequest& request, StepResult result,
                                              std::string message) {
  return {.result = result,
          .message = std::move(message),
          .facts = request.facts,
          .look_again = std::chrono::seconds(10)};
}

// Returns a failure after which a more severe step would not help.
[[nodiscard]] inline StepProgress failed_for_operator(const StepRequest& request,
                                                      std::string message) {
  StepProgress progress = progress_of(request, StepResult::kFailed, std::move(message));
  progress.facts[kNeedsOperatorFact] = "true";
  return progress;
}

// Returns `progress` with the fact that the step's call was accepted, or that the result is still
// unknown.
[[nodiscard]] inline StepProgress with_call(StepProgress progress, Call call) {
  progress.facts[kCallFact] = to_string(call);
  return progress;
}

// Returns the progress of a step that a guard forbids now. Nothing was done, and the step can be
// tried later.
[[nodiscard]] inline StepProgress held_back(const StepRequest& request, const Error& why) {
  return progress_of(request, StepResult::kIntended,
                     std::string(to_string(request.step.step)) + " waits: " + why.message);
}

// Returns the permit for the code that makes the step's call. It returns kBlocked if the request's
// permit refuses, for any reason. `request` must outlive the call.
[[nodiscard]] inline Permit permit_of_call(const StepRequest& request) {
  return [&request]() -> Status {
    const auto allowed = request.permit();
    if (allowed) return {};
    return fail(ErrorKind::kBlocked, allowed.error().message);
  };
}

// Returns the fact of that name; empty if there is none.
[[nodiscard]] inline std::string fact_of(const StepRequest& request, const std::string& name) {
  return value_at(request.facts, name);
}

[[nodiscard]] inline std::optional<WallTime> healthy_since(const StepRequest& request) {
  return parse_rfc3339(fact_of(request, kHealthySinceFact));
}

// How long the node has been healthy since then without a break. Only the time counts that the step
// has run and a leader has watched. Writes both facts.
[[nodiscard]] inline std::chrono::milliseconds soaked(const StepRequest& request, WallTime since,
                                                      Facts& facts) {
  const std::int64_t now = request.ran.count();
  std::int64_t from = now;
  if (healthy_since(request) == since)
    from = std::min(now,
                    parse_integer<std::int64_t>(fact_of(request, kHealthyFromFact)).value_or(now) +
                        request.unwatched.count());
  facts[kHealthySinceFact] = to_rfc3339_ms(since);
  facts[kHealthyFromFact] = std::to_string(from);
  return std::chrono::milliseconds(now - from);
}

}  // namespace gpuward::remediator
