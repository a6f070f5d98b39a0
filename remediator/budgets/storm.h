// If many nodes get the same fault at once, its cause is one fault elsewhere: a driver's rollout, a
// switch, a wrong rule. gpuward then starts no step on such nodes until the storm ends; nodes
// tainted before it stay tainted. Pure; used by the budgets before every slot.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "remediator/model/fleet.h"
#include "remediator/policy/budget_limits.h"

namespace gpuward::remediator {

struct Storm {
  std::string code;
  int nodes = 0;    // that got it within one window
  int trigger = 0;  // the number that makes it a storm

  [[nodiscard]] std::string message() const;
};

// Whether so many nodes got `code` within any one window, by the alerts that are open now. A storm
// lasts as long as they are open, no matter when they began: after ten minutes it has not become a
// handful of broken nodes.
[[nodiscard]] std::optional<Storm> storm_of(const Fleet& fleet, const BudgetLimits& limits,
                                            std::string_view code);

// Returns the first storm among the codes that are open on that node.
[[nodiscard]] std::optional<Storm> storm_over(const Fleet& fleet, const BudgetLimits& limits,
                                              std::string_view node_uid);

// Returns a storm only if storms explain all reasons to taint the node: one alert without a storm
// is enough for a taint. Its alerts of severity reset or worse count; if it has none, all count.
[[nodiscard]] std::optional<Storm> storm_behind(const Fleet& fleet, const BudgetLimits& limits,
                                                std::string_view node_uid);

}  // namespace gpuward::remediator
