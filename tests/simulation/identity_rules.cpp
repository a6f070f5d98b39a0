#include "tests/simulation/identity_rules.h"

#include <algorithm>

#include "remediator/model/diagnostics.h"
#include "remediator/model/history_alerts.h"

namespace gpuward::remediator::simulation {
namespace {

bool has_failed_test(const Remediation& remediation) {
  return std::ranges::any_of(remediation.status.steps, [](const StepRecord& record) {
    const bool has_failed =
        record.result == StepResult::kFailed || record.facts.contains(kFailedAtFact);
    return is_diagnostic(record.step) && has_failed;
  });
}

}  // namespace

bool IdentityRules::is_cancelled(const Remediation& remediation, const kube::Node& node) {
  return remediation.status.phase == Phase::kCancelled &&
         remediation.instance_id == node.provider_id;
}

void IdentityRules::check_rest(const Machine& machine) const {
  const kube::Node& node = stage_.truth.node(machine.name)->node;
  for (const auto& [name, one] : stage_.truth.remediations()) {
    if (one.open() && one.node_uid == node.meta.uid && rests_on_history(one))
      check_one(machine, one);
  }
}

bool IdentityRules::is_to_be_verified(const Machine& machine) const {
  const kube::Node& node = stage_.truth.node(machine.name)->node;
  return std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const Remediation& one = known.second;
    return one.open() && one.node_uid == node.meta.uid && rests_on_history(one) &&
           !is_kept(one, node) && is_verified(machine);
  });
}

void IdentityRules::check_one(const Machine& machine, const Remediation& remediation) const {
  if (is_kept(remediation, stage_.truth.node(machine.name)->node)) return;
  require(!remediation.wish.machine_replaced, "machine-replaced",
          remediation.name + " continues though a human says that its machine was replaced");
  require(!is_verified(machine), "verified",
          remediation.name + " continues though a report says that its machine is healthy");
}

bool IdentityRules::is_kept(const Remediation& remediation, const kube::Node& node) const {
  return remediation.wish.pause || remediation.status.phase == Phase::kPaused ||
         exclusion_of(*stage_.meant.get(), node);
}

// Judges by reports alone.
bool IdentityRules::is_verified(const Machine& machine) const {
  const bool is_well =
      machine.fault == Severity::kNone && is_ready(stage_.truth.node(machine.name)->node);
  const bool had_these_boards =
      std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
        const Phase phase = known.second.status.phase;  // kEnded: closed by an edit
        const bool is_without_proof = phase == Phase::kSuperseded || phase == Phase::kEnded;
        const bool is_not_verified =
            known.second.acted_severity() == Severity::kIsolate || has_failed_test(known.second);
        return is_without_proof && is_not_verified &&
               known.second.system_uuid == machine.system_uuid();
      });
  const bool is_one_deleted = std::ranges::any_of(stage_.deleted, [&](const auto& deleted) {
    return deleted.first.starts_with(machine.name + "-");
  });
  return is_well && !had_these_boards && !is_one_deleted;
}

}  // namespace gpuward::remediator::simulation
