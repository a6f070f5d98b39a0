// Many nodes that get the same fault at once are one fault elsewhere: a driver's rollout, a
// switch, a rule that is wrong. Nothing is done to such nodes until somebody has looked; those that
// were tainted before the storm was one stay tainted. Pure; asked by the budgets before every slot.
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
  int trigger = 0;  // from how many on it is a storm

  [[nodiscard]] std::string message() const;
};

// Whether so many nodes got `code` within any one window, by what is open now. It lasts as long as
// they are open, however long ago they began: a storm that was left alone for ten minutes has not
// become a handful of broken nodes.
[[nodiscard]] std::optional<Storm> storm_of(const Fleet& fleet, const BudgetLimits& limits,
                                            std::string_view code);

// The first storm among the codes that are open on that node.
[[nodiscard]] std::optional<Storm> storm_over(const Fleet& fleet, const BudgetLimits& limits,
                                              std::string_view node_uid);

// The same where a storm explains all that the node is to be tainted for: what it alone has is no
// storm. Of its alerts those of severity reset or worse count; where it has none of them, all.
[[nodiscard]] std::optional<Storm> storm_behind(const Fleet& fleet, const BudgetLimits& limits,
                                                std::string_view node_uid);

}  // namespace gpuward::remediator
