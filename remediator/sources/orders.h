// Alerts to orders: which of them name a node and what to do with it. One bad alert never costs the
// others: it is set aside with its number and the reason. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "remediator/policy/evidence.h"
#include "remediator/sources/alertmanager_payload.h"

namespace gpuward::remediator {

struct BadAlert {
  std::size_t index = 0;  // in the payload
  std::string what;       // never repeats the sender's values
};

struct Orders {
  std::vector<Order> orders;
  std::size_t ignored = 0;  // alerts without a `remediation` label: not for us
  std::vector<BadAlert> rejected;
};

[[nodiscard]] Orders to_orders(std::span<const Alert> alerts);

}  // namespace gpuward::remediator
