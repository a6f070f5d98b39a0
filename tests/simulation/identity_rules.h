// Rules at rest for machines whose Nodes were deleted and registered again: a machine keeps its
// history until it is verified or replaced.
#pragma once

#include "tests/simulation/machine.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class IdentityRules {
 public:
  explicit IdentityRules(const Stage& stage) : stage_(stage) {}

  // Whether an operator cancelled the history of the machine, which answers its old alerts.
  [[nodiscard]] static bool is_cancelled(const Remediation& remediation, const kube::Node& node);
  // No Remediation rests on history alone once a healthy report verified the machine, or an
  // operator said that the history is over.
  void check_rest(const Machine& machine) const;
  // Whether the machine still has to be verified: the leader may need some more looks.
  [[nodiscard]] bool is_to_be_verified(const Machine& machine) const;

 private:
  void check_one(const Machine& machine, const Remediation& remediation) const;
  [[nodiscard]] bool is_kept(const Remediation& remediation, const kube::Node& node) const;
  [[nodiscard]] bool is_verified(const Machine& machine) const;

  const Stage& stage_;
};

}  // namespace gpuward::remediator::simulation
