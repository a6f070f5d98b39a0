#include "tests/simulation/drain.h"

#include "remediator/act/actions/step_progress.h"

namespace gpuward::remediator::simulation {
namespace {

StepProgress progress(StepResult result, std::string message, const StepRequest& order) {
  return {.result = result,
          .message = std::move(message),
          .facts = order.facts,
          .look_again = std::chrono::seconds(5)};
}

}  // namespace

Result<StepProgress> ScriptedDrain::begin(const StepRequest& order) {
  if (auto allowed = order.permit(); !allowed) {
    return progress(StepResult::kIntended, "drain waits: " + allowed.error().message, order);
  }
  return watch(order);
}

Result<StepProgress> ScriptedDrain::watch(const StepRequest& order) {
  if (auto allowed = order.permit(); !allowed) {
    return progress(StepResult::kRunning, "drain pauses: " + allowed.error().message, order);
  }
  invariants_.on_eviction(order.remediation, order.node);
  if (!stage_.is_quiet) {
    if (stage_.chance.happens(stage_.setting.fault))
      return fail(ErrorKind::kUnavailable, "pods cannot be listed");
    if (stage_.chance.happens(0.03))
      return progress(StepResult::kFailed, "a pod cannot be evicted", order);
  }
  int& left = pods_left(order);
  if (left == 0) {
    invariants_.ends().on_drained(order.remediation);
    StepProgress done = progress(StepResult::kDone, "no pod is left", order);
    if (const std::string jobs = torn_.tear(); !jobs.empty()) done.facts[kJobsFact] = jobs;
    return done;
  }
  const std::string message = std::to_string(left) + " pods are left";
  --left;
  return progress(StepResult::kRunning, message, order);
}

// Drawn at the first look at the drain: a replica that continues another's drain finds the same
// number.
int& ScriptedDrain::pods_left(const StepRequest& order) {
  const std::string drain =
      order.remediation.name + "/" + std::string(to_string(order.remediation.acted_severity()));
  return pods_.try_emplace(drain, stage_.chance.between(0, 3)).first->second;
}

}  // namespace gpuward::remediator::simulation
