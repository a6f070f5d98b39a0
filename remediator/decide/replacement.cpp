#include "remediator/decide/replacement.h"

#include <optional>
#include <utility>

#include "core/runtime/yaml_scalars.h"
#include "remediator/cluster/replacements.h"
#include "remediator/decide/draft.h"
#include "remediator/decide/recovery.h"
#include "remediator/decide/step_gates.h"
#include "remediator/model/step_call.h"
#include "remediator/model/step_facts.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

constexpr const char* kVerifyRule = "step.verify";
// Interval between checks of a machine with an accepted end that is not proven.
constexpr std::chrono::minutes kProofInterval{1};

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

// Returns the record of the wait; null if there is none. A verification before the end is about the
// machine that has ended.
const StepRecord* wait_record(const Remediation& remediation) {
  const StepRecord* record = remediation.status.find(Step::kVerify);
  const StepRecord* end = remediation.status.find(Step::kTerminate);
  return record != nullptr && record->intent_at >= end->intent_at ? record : nullptr;
}

// Returns the wait in the current version of the plan under which the machine was ended. A wait
// that has begun continues even if the plan no longer has it.
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
  return decision_of(Verdict::kClose, Phase::kReplaced, kVerifyRule,
                     "replaced by " + (node == wait.facts.end() ? std::string("an unknown node")
                                                                : "node " + node->second));
}

Decision held(const Remediation& remediation, const PlannedStep& wait, const StepRecord& record) {
  return decision_of(Verdict::kHold, Phase::kHeld, "exhausted",
                     "the machine is gone and no replacement has joined within " +
                         to_duration_text(wait.timeout) + ": " + record.message +
                         "; the node counts as missing capacity and keeps its budget slot until an "
                         "operator runs gpuwardctl cancel " +
                         remediation.node);
}

// Returns whether the machine has registered again. It has then not ended, even if the provider
// accepted the end.
bool is_back(const Draft& draft, const StepRecord& end) {
  return draft.inputs.node != nullptr &&
         draft.inputs.node->provider_id == value_at(end.facts, kInstanceFact);
}

Decision close_without_node(Draft& draft, const char* gone, const StepRecord* end) {
  const std::string why = end == nullptr ? "" : "; terminate failed: " + end->message;
  return close_case(draft, Phase::kSuperseded, "guard.node-identity", gone + why);
}

}  // namespace

Decision decide_after_the_end(const Policy& policy, const Remediation& remediation) {
  const auto wait = wait_for(policy, remediation);
  if (!wait) {
    return decision_of(Verdict::kClose, Phase::kReplaced, "step.terminate",
                       "the machine is gone for good");
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
                       "paused by annotation");
  }
  if (record == nullptr)
    return at_step(Verdict::kBegin, *wait, "the machine is gone; waiting for a replacement");
  if (is_under_way(*record)) return at_step(Verdict::kWatch, *wait, record->message);
  return held(remediation, *wait, *record);
}

std::optional<PlannedStep> machine_is_ending(const Draft& draft) {
  auto step = step_under_way(draft.policy, draft.remediation);
  if (!step || step->step != Step::kTerminate) return std::nullopt;
  const bool node_goes = node_is_another(draft) != nullptr || draft.inputs.node->meta.deleting;
  return node_goes ? step : std::nullopt;
}

// Decides for a node that is gone. gpuward watches an accepted end until it is proven, even after
// the step's time, and notifies an operator.
Decision decide_without_node(Draft& draft, const char* gone) {
  const StepRecord* end = draft.remediation.status.find(Step::kTerminate);
  if (end == nullptr || call_of(*end) != Call::kAccepted || is_back(draft, *end))
    return close_without_node(draft, gone, end);
  if (draft.remediation.wish.cancel || draft.remediation.deleting)
    return close_case(draft, Phase::kCancelled, "guard.cancel",
                      "cancelled; the termination of the machine was requested");
  if (draft.remediation.status.phase == Phase::kHeld)
    return watch_step(draft, planned(Step::kTerminate));
  draft.decision.look_again = kProofInterval;
  return conclude(draft, Verdict::kHold, Phase::kHeld, "exhausted",
                  std::string(gone) +
                      ", but nothing proves that the machine has terminated (the provider accepted "
                      "the request): " +
                      end->message);
}

// Decides after the end. The node is gone, even if a cache still has it.
Decision decide_after_the_end(Draft& draft) {
  Decision next = decide_after_the_end(draft.policy, draft.remediation);
  draft.decision.step = std::move(next.step);
  return conclude(draft, next.verdict, next.phase, std::move(next.rule), std::move(next.message));
}

}  // namespace gpuward::remediator
