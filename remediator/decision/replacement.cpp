#include "remediator/decision/replacement.h"

#include <optional>
#include <utility>

#include "core/runtime/yaml_scalars.h"
#include "remediator/actions/replacements.h"
#include "remediator/decision/step_order.h"
#include "remediator/decision/way_back.h"

namespace gpuward::remediator {
namespace {

constexpr const char* kVerifyRule = "step.verify";

Decision decision_of(Verdict verdict, Phase phase, std::string rule, std::string message) {
  Decision decision;
  decision.verdict = verdict;
  decision.phase = phase;
  decision.rule = std::move(rule);
  decision.message = std::move(message);
  return decision;
}

Decision at_step(Verdict verdict, PlannedStep step, std::string message) {
  Decision decision = decision_of(verdict, Phase::kVerifying, kVerifyRule, std::move(message));
  decision.step = std::move(step);
  return decision;
}

// A verification of before the end is of the machine that has ended.
const StepRecord* wait_record(const Remediation& remediation) {
  const StepRecord* record = remediation.status.find(Step::kVerify);
  const StepRecord* end = remediation.status.find(Step::kTerminate);
  return record != nullptr && record->intent_at >= end->intent_at ? record : nullptr;
}

// As the plan has it under which the machine was ended, as that is now. A wait that has been begun
// outlives it there.
std::optional<PlannedStep> wait_for(const Policy& policy, const Remediation& remediation) {
  const StepRecord& end = *remediation.status.find(Step::kTerminate);
  const StepRecord* record = wait_record(remediation);
  if (const PlannedStep* wait = replacement_wait(list_begun(policy, remediation, end)))
    return *wait;
  if (record == nullptr) return std::nullopt;
  return planned(Step::kVerify);
}

Decision replaced(const StepRecord& wait) {
  const auto node = wait.facts.find(kReplacementFact);
  return decision_of(
      Verdict::kClose, Phase::kReplaced, kVerifyRule,
      "replaced by node " + (node == wait.facts.end() ? "of unknown name" : node->second));
}

Decision held(const Remediation& remediation, const PlannedStep& wait, const StepRecord& record) {
  return decision_of(
      Verdict::kHold, Phase::kHeld, "exhausted",
      "its machine is gone and no replacement has joined within " + to_duration_text(wait.timeout) +
          ": " + record.message +
          ": it counts as missing capacity and keeps its slot of the budgets until a "
          "human says gpuward-remediator cancel " +
          remediation.node);
}

}  // namespace

Decision decide_after_the_end(const Policy& policy, const Remediation& remediation) {
  const auto wait = wait_for(policy, remediation);
  if (!wait) {
    return decision_of(Verdict::kClose, Phase::kReplaced, "step.terminate",
                       "its machine is gone for good");
  }
  const StepRecord* record = wait_record(remediation);
  if (record != nullptr && record->result == StepResult::kDone) return replaced(*record);
  if (remediation.deleting || remediation.wish.cancel) {
    return decision_of(
        Verdict::kClose, Phase::kCancelled, "guard.cancel",
        remediation.deleting ? "the remediation is being deleted" : "cancelled by annotation");
  }
  if (remediation.wish.pause) {
    return decision_of(Verdict::kPause, Phase::kPaused, std::string(kPauseRule),
                       "paused by annotation: hands off");
  }
  if (record == nullptr)
    return at_step(Verdict::kBegin, *wait, "its machine is gone; waiting for a replacement");
  if (is_under_way(*record)) return at_step(Verdict::kWatch, *wait, record->message);
  return held(remediation, *wait, *record);
}

}  // namespace gpuward::remediator
