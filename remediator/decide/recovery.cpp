#include "remediator/decide/recovery.h"

#include <algorithm>
#include <optional>

#include "remediator/decide/step_gates.h"
#include "remediator/model/diagnostics.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/step_facts.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

// Returns when the first diagnostic of `list` began at `severity`; nullopt if it did not begin.
std::optional<WallTime> recovery_since(const std::vector<PlannedStep>& list,
                                       const Remediation& remediation, Severity severity) {
  if (list.empty()) return std::nullopt;
  const StepRecord* first = remediation.status.find(list.front().step);
  if (first == nullptr || first->severity != severity) return std::nullopt;
  return first->intent_at;
}

bool has_foreign_cordon(const Remediation& remediation, const kube::Node& node) {
  const auto mark = owner_annotation_on(node);
  return remediation.status.pre_existing_cordon.value_or(false) ||
         (mark && mark->pre_existing_cordon);
}

// Returns the step after which it is unknown whether the machine will restart or end; null if there
// is none. Such a node does not return by itself.
const StepRecord* unresolved_step(const Remediation& remediation) {
  for (const StepRecord& record : remediation.status.steps) {
    if (record.step == Step::kTerminate) return &record;
    if (record.step == Step::kReboot && record.result != StepResult::kDone) return &record;
  }
  return nullptr;
}

std::string objection_to_any_way(const Policy& policy, const Remediation& remediation,
                                 const kube::Node& node) {
  if (!allows(policy.mode, Step::kReturn) || !allows(policy.mode, Step::kVerify))
    return "mode " + std::string(to_string(policy.mode)) + " takes no further step";
  if (has_foreign_cordon(remediation, node))
    return "the node was already cordoned by another controller or an operator";
  const StepRecord* drain = counting_record(remediation, Step::kDrain);
  if (drain == nullptr || drain->result != StepResult::kDone) return "the node is not drained";
  if (const StepRecord* failed = failed_diagnostic(remediation)) return failure_text(*failed);
  const StepRecord* open = unresolved_step(remediation);
  if (open == nullptr) return {};
  return std::string(to_string(open->step)) + " " + std::string(to_string(open->result)) + ": " +
         open->message;
}

// Returns why the recovery does not continue after this record; empty if it does.
std::string objection_to_step(const StepRecord& record, const kube::Node& node) {
  if (record.step == Step::kNotify) return {};
  if (record.result == StepResult::kFailed) return failure_text(record);
  if (!is_diagnostic(record.step)) return {};
  const bool is_of_this_boot =
      !node.boot_id.empty() && value_at(record.facts, kJobBootFact) == node.boot_id;
  return is_of_this_boot ? "" : std::string(to_string(record.step)) + " passed in another boot";
}

}  // namespace

Recovery recovery_for(const Policy& policy, const Remediation& remediation,
                      const kube::Node& node) {
  const Severity severity = remediation.acted_severity();
  const auto& list = recovery_of(policy, policy.pool, severity);
  if (list.empty()) return {};
  if (auto why = objection_to_any_way(policy, remediation, node); !why.empty())
    return {.next = nullptr, .objection = std::move(why)};
  const auto since = recovery_since(list, remediation, severity);
  for (const PlannedStep& step : list) {
    const StepRecord* record = counting_record(remediation, step.step);
    // A verification before the diagnostics says nothing about the node after them.
    if (!since || record == nullptr || record->intent_at < since) return {.next = &step};
    const bool is_of_another_boot = record->step == Step::kVerify &&
                                    record->result == StepResult::kDone &&
                                    !is_verified_in(*record, node.boot_id);
    if (is_of_another_boot) return {.next = &step};
    if (auto why = objection_to_step(*record, node); !why.empty())
      return {.next = nullptr, .objection = std::move(why)};
  }
  return {};
}

bool is_in_recovery(const Policy& policy, const Remediation& remediation) {
  const Severity severity = remediation.acted_severity();
  return recovery_since(recovery_of(policy, policy.pool, severity), remediation, severity)
      .has_value();
}

const std::vector<PlannedStep>& list_begun(const Policy& policy, const Remediation& remediation,
                                           const StepRecord& record) {
  const auto& back = recovery_of(policy, record.pool, record.severity);
  const auto since = recovery_since(back, remediation, record.severity);
  const bool is_back = since && record.intent_at >= since &&
                       std::ranges::find(back, record.step, &PlannedStep::step) != back.end();
  return is_back ? back : plan_of(policy, record.pool, record.severity);
}

}  // namespace gpuward::remediator
