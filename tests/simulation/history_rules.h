// Rule for a replica that ends an alert about the history of a machine (history_alerts.h): the
// machine was healthy for at least the shortest soak. Does not see faults that were shorter than
// the time between two looks, or that began a moment ago. Owned by the World.
#pragma once

#include "tests/simulation/fleet.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class HistoryRules {
 public:
  // Both must outlive it.
  HistoryRules(Stage& stage, const Fleet& fleet);
  HistoryRules(const HistoryRules&) = delete;
  HistoryRules& operator=(const HistoryRules&) = delete;

 private:
  void on_rewritten(const Remediation& before, const Remediation& after) const;
  void check_soaked(const Remediation& after, const Machine& machine) const;

  const Stage& stage_;
  const Fleet& fleet_;
};

}  // namespace gpuward::remediator::simulation
