// Rules for a severity that falls: when a replica may act on a lower severity. Part of the
// invariants.
#pragma once

#include "remediator/model/remediation.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class EvidenceRules {
 public:
  explicit EvidenceRules(const Stage& stage) : stage_(stage) {}

  // A replica has written a Remediation.
  void on_written(const Remediation& before, const Remediation& after) const;
  // At rest: no node waits for evidence of a false alert that has ended.
  void check_rest(const Remediation& remediation, const Machine& machine) const;

 private:
  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
