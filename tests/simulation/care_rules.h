// Rules for the precautions of operators: no step touches an excluded node, begins outside a
// maintenance window, or treats a machine in its cooldown; and a pool keeps its minimum of healthy
// nodes. Part of the invariants.
#pragma once

#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// The replica that is at work does something to the node. It could know every statement before
// `by`.
void require_not_excluded(const Stage& stage, const kube::Node& node, ExclusionsTruth::Said by,
                          const std::string& what);

class CareRules {
 public:
  explicit CareRules(const Stage& stage) : stage_(stage) {}

  // A replica has written the intent of a step.
  void on_intent(const Remediation& after, const StepRecord& record) const;
  // A replica has replaced the ledger. Called before the truth is updated.
  void on_ledger_written(const Ledger& after) const;

 private:
  void check_window(const Policy& policy, const StepRecord& record, const std::string& what) const;
  void check_rest(const Policy& policy, const Remediation& after, const StepRecord& record,
                  const std::string& what) const;
  void check_healthy(const Slot& taken, const Ledger& after) const;
  [[nodiscard]] bool may_be_healthy(const NodeTruth& node, const Ledger& after) const;

  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
