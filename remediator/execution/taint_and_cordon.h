// Puts taint, cordon and the ownership annotation on a node, and takes them off again: planned as a
// pure function of the Node as it was read, then one guarded patch, its intent written before and
// its result after. Used by the Reconciler; the plans by the replay too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/execution/case.h"
#include "remediator/execution/case_records.h"
#include "remediator/execution/pending_records.h"
#include "remediator/execution/reconciler_parts.h"
#include "remediator/execution/step_execution.h"
#include "remediator/gates/joint_read.h"

namespace gpuward::remediator {

struct PlanRequest {
  const Remediation& remediation;
  std::vector<Step> steps;  // what is to be on the node
  std::string why;          // for the people who look at the node
  WallTime now;
  bool konduktor_taint = false;  // that one is to be on the node beside ours
};

// Taint, cordon and the annotation that says whose they are, all of it in one patch or nothing;
// nullopt where the node is as it should be. Pure.
[[nodiscard]] std::optional<NodePlan> plan_quarantine(const PlanRequest& request,
                                                      const kube::Node& node);
// Taint and annotation come off, and the cordon where it is proven ours (model/ownership.h).
[[nodiscard]] std::optional<NodePlan> plan_release(const PlanRequest& request,
                                                   const kube::Node& node);

// Any thread, of one Remediation at a time.
class TaintAndCordon {
 public:
  TaintAndCordon(const ReconcilerParts& parts, CaseReader& reader, CaseRecords& records,
                 PendingRecords& pending, StepExecution& steps)
      : parts_(parts), reader_(reader), records_(records), pending_(pending), steps_(steps) {}

  // What the informers reported last is enough: the patch names the version of the node.
  [[nodiscard]] Status put_on(Case& now) { return change(now); }
  // A node goes back into service by what is true now alone.
  [[nodiscard]] Status take_off(FreshCase& decided) { return change(*decided); }

 private:
  [[nodiscard]] Status change(Case& now);
  [[nodiscard]] Status permit_for(const std::string& remediation);
  [[nodiscard]] Status check_no_disruptive_pod(const Case& now);
  [[nodiscard]] Status check_unchanged(const Remediation& known);
  [[nodiscard]] Status change_node(Case& now, const NodePlan& plan);

  const ReconcilerParts& parts_;
  CaseReader& reader_;
  CaseRecords& records_;
  PendingRecords& pending_;
  StepExecution& steps_;
  JointReads reads_;  // by Remediation
};

}  // namespace gpuward::remediator
