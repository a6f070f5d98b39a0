// The budget of taints in a simulation: how small it is, and what must be true of it, counted from
// the taints that the nodes really bear. Part of the invariants.
#pragma once

#include "tests/simulation/chance.h"
#include "tests/simulation/setting.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// In some simulations few nodes may be tainted; with chance of their own, so that the others stay
// as they are.
void limit_taints(Setting& setting, Chance& chance);

class TaintRules {
 public:
  explicit TaintRules(const Stage& stage) : stage_(stage) {}

  // A replica puts the taint on a node that did not bear it.
  void check_put(const Remediation& owner) const;
  // A replica has replaced the ledger. Called before the truth hears of it.
  void on_ledger_written(const Ledger& after) const;
  // After each event, over the whole cluster.
  void check_budget() const;

 private:
  void check_order(const Remediation& taken) const;

  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
