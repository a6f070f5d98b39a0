#include "remediator/act/guard_probe.h"

#include <array>
#include <string>
#include <string_view>

#include "core/runtime/json.h"
#include "remediator/cluster/remediation_json.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kName = "gpuward-guard-probe";

// The attempts, and the policy that must refuse each attempt. The policy gpuward-humans-decide
// allows the first attempt, which gpuward-approvals must refuse.
struct Trial {
  std::string_view annotation, value, refusal, policy;
};
constexpr std::array<Trial, 2> kTrials = {
    {{kApprovedByAnnotation, kName, kOwnNameRefusal, "gpuward-approvals"},
     {kPauseAnnotation, "true", kOperatorsRefusal, "gpuward-humans-decide"}}};

std::string body_of(const Trial& trial) {
  return dump_json(
      {{"apiVersion", "gpuward.dev/v1alpha1"},
       {"kind", "Remediation"},
       {"metadata",
        {{"name", std::string(kName)},
         {"annotations", {{std::string(trial.annotation), std::string(trial.value)}}}}},
       {"spec",
        {{"nodeName", std::string(kName)},
         {"nodeUID", std::string(kName)},
         {"severity", "monitor"}}}});
}

Status refused_by(const Trial& trial, const Status& answer) {
  const std::string policy(trial.policy);
  if (answer) {
    return fail(ErrorKind::kRefused,
                "approvals are not guarded: the admission policy " + policy + " is not in force");
  }
  const Error& error = answer.error();
  const bool is_refused = error.kind == ErrorKind::kForbidden;
  if (is_refused && error.message.contains(trial.refusal)) return {};
  return with_context("cannot tell whether the admission policy " + policy + " is in force", error);
}

}  // namespace

Status GuardProbe::check(std::chrono::milliseconds max_age) {
  {
    const std::lock_guard lock(mutex_);
    if (last_ && clock_.steady() < at_ + max_age) return *last_;
  }
  return probes_.ask([this] {
    const Clock::Steady at = clock_.steady();
    Status seen = probe();
    const std::lock_guard lock(mutex_);
    last_ = seen;
    at_ = at;
    was_in_force_ |= seen.has_value();
    return seen;
  });
}

Status GuardProbe::probe() {
  for (const Trial& trial : kTrials) {
    const Status answer = api_.try_create_custom(remediation_type(), body_of(trial));
    if (auto seen = refused_by(trial, answer); !seen) return seen;
  }
  return {};
}

std::optional<Status> GuardProbe::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

bool GuardProbe::was_in_force() const {
  const std::lock_guard lock(mutex_);
  return was_in_force_;
}

}  // namespace gpuward::remediator
