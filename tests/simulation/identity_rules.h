// What must be true at rest of machines whose Nodes were deleted and registered anew: a machine
// keeps its history, and loses it where it was verified or replaced.
#pragma once

#include "tests/simulation/machine.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class IdentityRules {
 public:
  explicit IdentityRules(const Stage& stage) : stage_(stage) {}

  // A human has cancelled what was known of the machine: its old alerts are answered.
  [[nodiscard]] static bool is_cancelled(const Remediation& remediation, const kube::Node& node);
  // Nothing rests on history alone that was verified by a healthy report, or that a human has said
  // is over.
  void check_rest(const Machine& machine) const;

 private:
  void check_one(const Machine& machine, const Remediation& remediation) const;

  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
