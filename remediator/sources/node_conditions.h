// The conditions of nodes that rules of the policy name, as the informer has last seen them: no
// list of nodes of its own. Implemented by records/cluster_view, used by sources/condition_source.
#pragma once

#include <span>
#include <vector>

#include "remediator/policy/condition_rules.h"

namespace gpuward::remediator {

// Any thread.
class NodeConditions {
 public:
  virtual ~NodeConditions() = default;
  [[nodiscard]] virtual std::vector<ConditionSeen> conditions(
      std::span<const ConditionRule> rules) const = 0;
};

}  // namespace gpuward::remediator
