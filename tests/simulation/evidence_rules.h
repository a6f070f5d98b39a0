// What must be true where the severity that is acted on falls. Part of the invariants.
#pragma once

#include "remediator/model/remediation.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class EvidenceRules {
 public:
  explicit EvidenceRules(const Stage& stage) : stage_(stage) {}

  // A replica has written a Remediation.
  void on_written(const Remediation& before, const Remediation& after) const;
  // At rest: a node is not kept waiting for what a false alert has said.
  void check_rest(const Remediation& remediation, const Machine& machine) const;

 private:
  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
