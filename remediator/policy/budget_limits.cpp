#include "remediator/policy/budget_limits.h"

#include <algorithm>
#include <cmath>

namespace gpuward::remediator {
namespace {

// In binary 9.2 % of 750 nodes is a little less than 69, and 4.4 % a little more than 33.
constexpr double kDust = 1e-6;

double part_of(const Share& share, std::size_t nodes) {
  return share.percent * static_cast<double>(nodes) / 100.0;
}

}  // namespace

int at_most(const Share& share, std::size_t nodes) {
  if (nodes == 0) return 0;
  return std::max(share.nodes, static_cast<int>(std::floor(part_of(share, nodes) + kDust)));
}

int at_least(const Share& share, std::size_t nodes) {
  return std::max(share.nodes, static_cast<int>(std::ceil(part_of(share, nodes) - kDust)));
}

bool is_breaker_off(const BudgetLimits& limits) { return limits.breaker.share.percent >= 100; }

PlaceKeys place_keys(const BudgetLimits& limits) {
  PlaceKeys keys = limits.keys;
  for (const LabelLimit& limit : limits.labels) keys.domains.push_back(limit.label);
  return keys;
}

}  // namespace gpuward::remediator
