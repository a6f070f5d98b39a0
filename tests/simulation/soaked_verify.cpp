#include "tests/simulation/soaked_verify.h"

#include <algorithm>

#include "remediator/act/actions/step_progress.h"
#include "remediator/act/step_clock.h"

namespace gpuward::remediator::simulation {

using std::chrono::milliseconds;

// A failed look stops the soak, and is not visible here.
void SoakRules::on_look(const StepRequest& order, const StepProgress& progress) {
  const StepRecord* const record = order.remediation.status.find(Step::kVerify);
  if (record == nullptr || !record->intent_at) return;
  const auto now = stage_.clock.steady();
  const auto [known, is_new] =
      soaks_.try_emplace({order.remediation.name, *record->intent_at}, Soak{.last = now});
  Soak& soak = known->second;
  const auto since = std::chrono::ceil<milliseconds>(now - soak.last);
  soak.at_most += std::min<milliseconds>(since, kLongestBetweenLooks);
  soak.last = now;
  if (!progress.facts.contains(kHealthySinceFact)) soak.at_most = milliseconds(0);
  if (progress.result != StepResult::kDone) return;
  require(soak.at_most >= order.step.soak, "soak",
          "the verification of " + order.remediation.name + " is done after " +
              std::to_string(soak.at_most.count()) + " ms: " + progress.message);
}

Result<StepProgress> SoakedVerify::begin(const StepRequest& order) {
  return look(order, &StepAction::begin);
}

Result<StepProgress> SoakedVerify::watch(const StepRequest& order) {
  return look(order, &StepAction::watch);
}

Result<StepProgress> SoakedVerify::look(const StepRequest& order, Look how) {
  StepRequest known = order;
  const StepRecord* const record = order.remediation.status.find(Step::kVerify);
  if (stage_.is_off(Sabotage::kStepClock) && record != nullptr && record->intent_at) {
    known.ran = std::chrono::floor<milliseconds>(order.now - *record->intent_at);
    known.unwatched = milliseconds(0);
  }
  auto progress = (action_.*how)(known);
  if (progress) rules_.on_look(known, *progress);
  return progress;
}

}  // namespace gpuward::remediator::simulation
