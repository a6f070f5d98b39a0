// Puts taint, cordon and the ownership annotation on a node, and takes them off again: one guarded
// patch, its intent written before and its result after. Used by the Reconciler.
#pragma once

#include "remediator/execution/case.h"
#include "remediator/execution/case_records.h"
#include "remediator/execution/pending_records.h"
#include "remediator/execution/reconciler_parts.h"
#include "remediator/execution/step_execution.h"
#include "remediator/execution/step_permits.h"

namespace gpuward::remediator {

// Any thread, of one Remediation at a time.
class MarkExecution {
 public:
  MarkExecution(const ReconcilerParts& parts, CaseRecords& records, PendingRecords& pending,
                StepPermits& permits, StepExecution& steps)
      : parts_(parts), records_(records), pending_(pending), permits_(permits), steps_(steps) {}

  // What the informers told last is enough: the patch names the version of the node.
  [[nodiscard]] Status put_on(Case& now) { return change(now); }
  // A node goes back into service by what is true now alone.
  [[nodiscard]] Status take_off(FreshCase& decided) { return change(*decided); }

 private:
  [[nodiscard]] Status change(Case& now);
  [[nodiscard]] Status change_node(Case& now, const NodePlan& plan);

  const ReconcilerParts& parts_;
  CaseRecords& records_;
  PendingRecords& pending_;
  StepPermits& permits_;
  StepExecution& steps_;
};

}  // namespace gpuward::remediator
