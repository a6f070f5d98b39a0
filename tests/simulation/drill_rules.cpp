#include "tests/simulation/drill_rules.h"

#include "remediator/decide/guards/drills.h"

namespace gpuward::remediator::simulation {

void DrillRules::check_marked(const Remediation& owner, const kube::Node& before) const {
  if (stage_.looks.back()->restores != stage_.restores) return;
  require(!owner.is_drill() || allows_drills(before), "drill-label",
          "node " + owner.node + " was tainted or cordoned for the drill " + owner.name +
              ", and does not have the label");
}

void DrillRules::check_intent(const Remediation& after, const StepRecord& record) {
  const std::string what = std::string(to_string(record.step)) + " of " + after.name;
  if (after.is_drill()) {
    require(allows_drills(*stage_.looks.back()->node), "drill-label",
            what + " was intended for a drill, and the node does not have the label");
    require(record.step != Step::kTerminate, "drill-end", what + " was intended for a drill");
    begun_.insert_or_assign({after.name, record.step}, *record.intent_at);
    return;
  }
  begun_.erase({after.name, record.step});
  const StepRecord* const drain = after.status.find(Step::kDrain);
  const bool rests_on_drill =
      record.step > Step::kDrain && drain != nullptr && is_of_drill(after, *drain);
  require(!rests_on_drill, "drill-steps",
          what + " was intended for a real fault, and its drain is of a drill");
}

void DrillRules::on_written(const Remediation& before, const Remediation& after) const {
  const bool is_worn_out = after.status.message.contains("on this machine or one of its GPUs");
  if (after.status.escalated_to <= before.status.escalated_to || is_worn_out) return;
  for (const StepRecord& record : before.status.steps) {
    const bool treats = record.step == Step::kGpuReset || record.step == Step::kReboot;
    if (!treats || record.severity != before.acted_severity()) continue;
    require(!is_of_drill(before, record), "drill-steps",
            after.name + " takes what is worse, and its " + std::string(to_string(record.step)) +
                " was of a drill");
  }
}

void DrillRules::check_call(const std::string& remediation, Step step, Tick read) const {
  const Remediation* const owner = stage_.truth.remediation(remediation);
  if (owner == nullptr || restored_ > read) return;
  const StepRecord* const record = owner->status.find(step);
  if (!owner->is_drill() && (record == nullptr || !record->drill)) return;
  const NodeTruth* const node = stage_.truth.node(owner->node);
  if (node == nullptr || node->node.meta.uid != owner->node_uid) return;
  const auto forbidden = forbidden_.find(owner->node_uid);
  const bool is_new = forbidden != forbidden_.end() && forbidden->second > read;
  require(allows_drills(node->node) || is_new, "drill-label",
          std::string(to_string(step)) + " was carried out for the drill " + remediation +
              ", and its node does not have the label");
  require(step != Step::kTerminate, "drill-end",
          "a machine was ended for the drill " + remediation);
}

}  // namespace gpuward::remediator::simulation
