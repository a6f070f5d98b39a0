// What must be true at rest of machines whose Nodes were deleted and registered anew: a machine
// keeps its history, and loses it where it was verified or replaced.
#pragma once

#include "tests/simulation/machine.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class IdentityRules {
 public:
  explicit IdentityRules(const Stage& stage) : stage_(stage) {}

  // Whether a Remediation knows that very machine, on that hardware, under another Node: then its
  // alerts are heard however old they are.
  [[nodiscard]] bool has_history(const Machine& machine, const kube::Node& node) const;
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
