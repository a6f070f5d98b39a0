// Alerts to orders: which of them name a node and what to do with it. One bad alert never costs the
// others: it is set aside with its number and the reason. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "remediator/model/evidence.h"
#include "remediator/policy/current_policy.h"
#include "remediator/policy/foreign_alerts.h"
#include "remediator/sources/alertmanager_payload.h"

namespace gpuward::remediator {

struct BadAlert {
  std::size_t index = 0;  // in the payload
  std::string what;       // never repeats the sender's values
};

struct Orders {
  std::vector<Order> orders;
  std::size_t ignored = 0;  // neither a `remediation` label nor a rule: not for us
  std::vector<BadAlert> rejected;
};

// Alerts that ask for nothing themselves are looked up in `foreign`.
[[nodiscard]] Orders to_orders(std::span<const Alert> alerts,
                               std::span<const ForeignAlertRule> foreign = {});

// The same with the rules of the policy in force; null: none.
[[nodiscard]] Orders to_orders_under(const CurrentPolicy* policy, std::span<const Alert> alerts);

}  // namespace gpuward::remediator
