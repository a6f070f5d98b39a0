// The conditions of nodes that rules of the policy name, as the informer has last seen them: no
// list of nodes of its own. Implemented by records/cluster_view, used by sources/condition_source.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/policy/condition_rules.h"

namespace gpuward::remediator {

// Any thread.
class NodeConditions {
 public:
  virtual ~NodeConditions() = default;
  [[nodiscard]] virtual std::vector<ConditionSeen> conditions(
      std::span<const ConditionRule> rules) const = 0;
  // Whether one of the rules that has the fingerprint is for the node. A node that the informer
  // does not know counts as one that each rule is for.
  [[nodiscard]] virtual bool is_ruled(const std::string& node, const std::string& fingerprint,
                                      std::span<const ConditionRule> rules) const = 0;
  // The informers have heard from the API server a moment ago.
  [[nodiscard]] virtual bool is_current(Clock::Steady now) const = 0;
};

}  // namespace gpuward::remediator
