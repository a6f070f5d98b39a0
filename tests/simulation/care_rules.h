// What must be true of what careful people have set: nothing is done to a node that they keep away
// for a while, nor outside of a maintenance window, nor to a machine that is to rest; and a pool
// keeps its healthy nodes. Part of the invariants.
#pragma once

#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// The replica that is at work does something to the node; `by`: what was said before then it could
// know.
void require_not_excluded(const Stage& stage, const kube::Node& node, ExclusionsTruth::Said by,
                          const std::string& what);

class CareRules {
 public:
  explicit CareRules(const Stage& stage) : stage_(stage) {}

  // A replica has written that it is going to take the step.
  void on_intent(const Remediation& after, const StepRecord& record) const;
  // A replica has replaced the ledger. Called before the truth hears of it.
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
