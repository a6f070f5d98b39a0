// The conditions of nodes that rules of the policy name, as the informer last saw them: no list of
// nodes of its own. Implemented by cluster/cluster_view, used by inbox/sources/condition_source.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/policy/condition_rules.h"

namespace gpuward::remediator {

// Thread-safe.
class NodeConditions {
 public:
  virtual ~NodeConditions() = default;
  [[nodiscard]] virtual std::vector<ConditionSeen> conditions(
      std::span<const ConditionRule> rules) const = 0;
  // Returns whether one of the rules with the fingerprint applies to the node. Every rule applies
  // to a node that the informer does not know.
  [[nodiscard]] virtual bool is_ruled(const std::string& node, const std::string& fingerprint,
                                      std::span<const ConditionRule> rules) const = 0;
  // Returns whether the informers have just heard from the API server.
  [[nodiscard]] virtual bool is_current(Clock::Steady now) const = 0;
};

}  // namespace gpuward::remediator
