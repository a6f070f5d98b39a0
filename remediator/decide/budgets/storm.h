// Detects storms: many nodes that get the same fault at once. The cause is then one fault
// elsewhere, for example a driver's rollout, a switch or a wrong rule. gpuward starts no step on
// such nodes until the storm ends. Nodes that were tainted before stay tainted. Pure; used by the
// budgets before every slot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "remediator/model/fleet.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

struct Storm {
  std::string code;
  int nodes = 0;    // Number of nodes that got the code within one window.
  int trigger = 0;  // Number of nodes that makes a storm.

  [[nodiscard]] std::string message() const;
};

// Returns the storm if enough open alerts of `code` began within any one window. A storm lasts as
// long as the alerts are open, no matter how long ago they began.
[[nodiscard]] std::optional<Storm> storm_of(const Fleet& fleet, const BudgetLimits& limits,
                                            std::string_view code);

// Returns the first storm among the codes that are open on the given node.
[[nodiscard]] std::optional<Storm> storm_over(const Fleet& fleet, const BudgetLimits& limits,
                                              std::string_view node_uid);

// Returns a storm only if storms explain all reasons to taint the node. One alert without a storm
// is enough for a taint. The alerts of severity reset or worse count; if there are none, all alerts
// count.
[[nodiscard]] std::optional<Storm> storm_behind(const Fleet& fleet, const BudgetLimits& limits,
                                                std::string_view node_uid);

}  // namespace gpuward::remediator
