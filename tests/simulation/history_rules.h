// What must be true if a replica ends an alert about the history of a machine (history_alerts.h):
// that machine was well for the time of the shortest soak. Faults that lasted for a shorter time
// than lies between two looks, or began a moment ago, are not seen. Owned by the World.
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
