// The budget of taints in a simulation: its size, and the rules for it, counted from the taints
// that the nodes really have. Part of the invariants.
#pragma once

#include "tests/simulation/chance.h"
#include "tests/simulation/setting.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Some simulations allow few taints; has its own chance, so that the others stay as they are.
void limit_taints(Setting& setting, Chance& chance);

class TaintRules {
 public:
  explicit TaintRules(const Stage& stage) : stage_(stage) {}

  // A replica taints a node that had no taint.
  void check_put(const Remediation& owner) const;
  // A replica has replaced the ledger. Called before the truth is updated.
  void on_ledger_written(const Ledger& after) const;
  // Called after each event; counts over the whole cluster.
  void check_budget() const;

 private:
  void check_order(const Remediation& taken) const;

  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
