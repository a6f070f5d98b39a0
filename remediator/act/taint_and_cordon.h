// Puts taint, cordon and the ownership annotation on a node, and removes them. A pure function
// plans the change from the Node as read. One guarded patch makes it, with its intent written
// before and its result after. Used by the Reconciler; the replay uses the plans too.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/act/case.h"
#include "remediator/act/case_records.h"
#include "remediator/act/pending_records.h"
#include "remediator/act/reconciler_parts.h"
#include "remediator/act/step_execution.h"
#include "remediator/cluster/gates/joint_read.h"

namespace gpuward::remediator {

struct PlanRequest {
  const Remediation& remediation;
  std::vector<Step> steps;  // Steps that the node should have.
  std::string why;          // Reason, for people who inspect the node.
  WallTime now;
  bool konduktor_taint = false;  // Whether konduktor's taint is set in addition to gpuward's.
};

// Plans taint, cordon and the ownership annotation in one patch; nullopt if the node already has
// all of them. Pure.
[[nodiscard]] std::optional<NodePlan> plan_quarantine(const PlanRequest& request,
                                                      const kube::Node& node);
// Plans the removal of taint and annotation, and of the cordon if it is provably gpuward's
// (model/ownership.h). Pure.
[[nodiscard]] std::optional<NodePlan> plan_release(const PlanRequest& request,
                                                   const kube::Node& node);

// Changes nodes. Any thread may call it, but for one Remediation at a time.
class TaintAndCordon {
 public:
  TaintAndCordon(const ReconcilerParts& parts, CaseReader& reader, CaseRecords& records,
                 PendingRecords& pending, StepExecution& steps)
      : parts_(parts), reader_(reader), records_(records), pending_(pending), steps_(steps) {}

  // Taints and cordons the node. The informers' last state is enough, because the patch names the
  // version of the node.
  [[nodiscard]] Status put_on(Case& now) { return change(now); }
  // Removes taint and cordon. Needs a fresh case, because a node returns to service only on present
  // data.
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
  JointReads reads_;  // By name of the Remediation.
};

}  // namespace gpuward::remediator
