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
  // It does so still: the leader may need some more looks.
  [[nodiscard]] bool is_to_be_verified(const Machine& machine) const;

 private:
  void check_one(const Machine& machine, const Remediation& remediation) const;
  [[nodiscard]] bool is_kept(const Remediation& remediation, const kube::Node& node) const;
  [[nodiscard]] bool is_verified(const Machine& machine) const;

  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
