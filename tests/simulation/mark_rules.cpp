#include "tests/simulation/mark_rules.h"

#include <string_view>
#include <unordered_set>

#include "remediator/decide/guards/drills.h"
#include "remediator/model/node_mark.h"
#include "remediator/model/ownership.h"

namespace gpuward::remediator::simulation {
namespace {

bool has_annotation(const kube::Node& node) {
  return node.meta.annotations.contains(std::string(kAnnotation));
}

// What the annotation and the taint say that the record does not; null if they agree.
const char* contradiction(const NodeTruth& node, const Remediation& open) {
  const RemediationStatus& status = open.status;
  const StepRecord* const taint = status.find(Step::kTaint);
  const StepRecord* const cordon = status.find(Step::kCordon);
  if (node.is_tainted && taint == nullptr) return "it does not know of the taint";
  if (!node.mark) return nullptr;
  if (node.mark->name != open.name) return "the annotation names another";
  if (node.is_tainted && our_taint_on(node.node) != to_string(node.mark->severity))
    return "the taint is another one";
  if (node.mark->cordon && cordon == nullptr) return "it does not know of the cordon";
  if (node.mark->cordon && status.pre_existing_cordon != node.mark->pre_existing_cordon)
    return "the annotation says another thing of the cordon";
  return nullptr;
}

}  // namespace

const Remediation* MarkRules::open_for(const NodeTruth& node) const {
  const Remediation* first = nullptr;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (!remediation.open() || remediation.node_uid != node.node.meta.uid) continue;
    if (node.mark && node.mark->name == name) return &remediation;
    const bool is_asking = first != nullptr && needs_operator(first->status.phase);
    if (first == nullptr || needs_operator(remediation.status.phase) ||
        (!is_asking && goes_first(remediation, *first, node.node)))
      first = &remediation;
  }
  return first;
}

void MarkRules::on_written(const Remediation* before, const Remediation& after) {
  if (before == nullptr) asked_.erase(after.name);  // the name of a deleted one
  if (needs_operator(after.status.phase)) {
    asked_.insert(after.name);
    asked_nodes_.insert(after.node_uid);
  }
  if (before == nullptr || !before->open() || after.open()) return;
  closed_[after.name] = stage_.tick;
  const NodeTruth* const node = stage_.truth.node(after.node);
  if (node == nullptr || node->node.meta.uid != after.node_uid) return;
  const bool is_left = node->cordoned_for == after.name && !stage_.wiped.contains(after.name);
  require(!is_left || asked_.contains(after.name), "left-cordoned",
          after.name + " is " + std::string(to_string(after.status.phase)) +
              ", its cordon is on the node and nobody was asked");
}

void MarkRules::check_always() const {
  std::unordered_set<std::string_view> owned;  // node UIDs
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (remediation.open()) owned.insert(remediation.node_uid);
  }
  for (const auto& [name, node] : stage_.truth.nodes()) {
    if (!node.is_tainted && !node.mark) continue;
    const std::string& uid = node.node.meta.uid;
    require(owned.contains(uid) || stage_.edited_since(uid, 0), "orphan-marks",
            "node " + name + " is marked and no Remediation is open");
  }
}

void MarkRules::check_rest() const {
  for (const auto& [name, node] : stage_.truth.nodes()) {
    const Remediation* const open = open_for(node);
    if (open == nullptr) {
      check_without_record(node);
    } else {
      check_with_record(node, *open);
    }
  }
}

void MarkRules::check_without_record(const NodeTruth& node) const {
  const std::string what = "node " + node.node.meta.name;
  require(!node.is_tainted, "marks-without-record", what + " is tainted and nothing is open");
  require(!has_annotation(node.node), "marks-without-record",
          what + " bears the annotation and nothing is open");
  const Remediation* const last = stage_.truth.remediation(node.cordoned_for);
  const bool is_known =
      last != nullptr && last->status.has_done(Step::kCordon) && !stage_.wiped.contains(last->name);
  require(!is_known || asked_nodes_.contains(last->node_uid) ||
              last->status.pre_existing_cordon.value_or(true),
          "marks-without-record",
          what + " bears the cordon of " + node.cordoned_for + " and nothing is open");
}

void MarkRules::check_with_record(const NodeTruth& node, const Remediation& open) const {
  if (needs_operator(open.status.phase)) return;
  const std::string what = open.name + " is " + std::string(to_string(open.status.phase));
  const char* const says = contradiction(node, open);
  require(says == nullptr, "disagreement", what + ", but " + (says == nullptr ? "" : says));
  if (exclusion_of(*stage_.meant.get(), node.node) || objection_to_drill(open, node.node)) return;
  require(!open.status.has_done(Step::kTaint) || node.is_tainted, "disagreement",
          what + ", but the taint is gone");
  require(!open.status.has_done(Step::kCordon) || node.node.unschedulable, "disagreement",
          what + ", but the cordon is gone");
}

}  // namespace gpuward::remediator::simulation
