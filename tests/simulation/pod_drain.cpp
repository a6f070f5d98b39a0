#include "tests/simulation/pod_drain.h"

namespace gpuward::remediator::simulation {
namespace {

// Marks that a permit is requested, also if a crash is thrown through it.
class Asking {
 public:
  explicit Asking(Stage& stage) : stage_(stage) { stage_.asks_leave = true; }
  ~Asking() { stage_.asks_leave = false; }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

 private:
  Stage& stage_;
};

}  // namespace

Result<std::optional<StepUndone>> PodDrain::undone(const StepRequest& order) {
  if (stage_.is_off(Sabotage::kCameSince)) return std::nullopt;
  return action_.undone(order);
}

Result<StepProgress> PodDrain::watch(const StepRequest& order) {
  const Tick begun = stage_.tick;
  invariants_.waves().on_look(order.remediation);
  invariants_.newcomers().on_look(order.remediation);
  const auto refusals = std::make_shared<int>(0);
  StepRequest known = order;
  const StepRecord* const drain = order.remediation.status.find(Step::kDrain);
  if (stage_.is_off(Sabotage::kStepClock) && drain != nullptr && drain->intent_at)
    known.ran = std::chrono::floor<std::chrono::milliseconds>(order.now - *drain->intent_at);
  known.permit = [this, refusals, name = order.remediation.name, permit = order.permit] {
    stage_.evicts_for = name;
    const Asking asking(stage_);
    auto allowed = permit();
    if (!allowed) ++*refusals;
    return allowed;
  };
  auto progress = action_.watch(known);
  if (progress && stage_.is_off(Sabotage::kDrainWords) && progress->result == StepResult::kFailed)
    progress->message = progress->message.substr(0, progress->message.find(':'));
  if (progress) invariants_.evictions().on_look(known, *progress, begun, this);
  if (progress && progress->result == StepResult::kDone) {
    invariants_.evictions().on_drained(order.remediation, begun);
    invariants_.ends().on_drained(order.remediation);
  }
  const bool goes_on = progress && progress->result == StepResult::kRunning;
  if (goes_on && *refusals == 0) invariants_.waves().on_looked(order.remediation);
  return progress;
}

}  // namespace gpuward::remediator::simulation
