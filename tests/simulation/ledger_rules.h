// What must be true of the budgets, counted from what is really done to the nodes, and of the
// ledger that they are kept in. Part of the invariants.
#pragma once

#include <map>
#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class LedgerRules {
 public:
  explicit LedgerRules(const Stage& stage) : stage_(stage) {}

  // A replica has replaced the ledger. Called before the truth hears of it.
  void on_ledger_written(const Ledger& after);
  // etcd is restored: what was begun since the backup is in no ledger, and an operator answers for
  // it who closes the breaker.
  void forget();
  // Somebody does what needs a slot of that harm.
  void check_slot(const Remediation& remediation, Impact impact, const std::string& what) const;
  // Somebody begins a disruptive step.
  void check_storm(const Remediation& of, const std::string& what) const;
  // A step was refused because the machine has had it before: then this very machine has.
  void check_worn_out(const Remediation& remediation) const;
  // After each event, over the whole cluster.
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
  int closings_ = 0;  // of the breaker, by people
};

}  // namespace gpuward::remediator::simulation
