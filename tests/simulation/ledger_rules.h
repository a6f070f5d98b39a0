// Rules for the budgets, counted from what really happens to the nodes, and for the ledger that
// keeps them. Part of the invariants.
#pragma once

#include <map>
#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class LedgerRules {
 public:
  explicit LedgerRules(const Stage& stage) : stage_(stage) {}

  // A replica has replaced the ledger. Called before the truth is updated.
  void on_ledger_written(const Ledger& after);
  // etcd was restored: no ledger has the steps that began since the backup. The operator who closes
  // the breaker is responsible for them.
  void forget();
  // A replica does something that needs a slot of that impact.
  void check_slot(const Remediation& remediation, Impact impact, const std::string& what) const;
  // A replica begins a disruptive step.
  void check_storm(const Remediation& of, const std::string& what) const;
  // A replica refused a step because the machine had it before: then this very machine had it.
  void check_worn_out(const Remediation& remediation) const;
  // Called after each event; counts over the whole cluster.
  void check_budgets() const;

 private:
  void check_kept(const Ledger& after) const;
  void check_windows(const Slot& begun) const;
  void check_terminations(const Slot& begun);
  void check_arrivals(const Ledger& after);

  const Stage& stage_;
  std::map<std::string, WallTime> begun_;  // when each Remediation first had a slot to disrupt
  std::map<std::string, WallTime> ended_;  // the same to terminate
  std::map<std::string, Arrival> arrived_;
  int closings_ = 0;  // of the breaker, by operators
};

}  // namespace gpuward::remediator::simulation
