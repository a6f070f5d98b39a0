#include "remediator/policy/budget_limits.h"

#include <algorithm>
#include <cmath>

namespace gpuward::remediator {
namespace {

// In binary, 9.2 % of 750 nodes is slightly less than 69, and 4.4 % slightly more than 33.
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
  for (const OwnPool& own : limits.own_pools)
    keys.own_pools.push_back({own.limits ? own.pool.name : "", own.pool.labels});
  return keys;
}

PoolLimits BudgetLimits::in_pool(std::string_view name) const {
  const auto own = std::ranges::find_if(
      own_pools, [&](const OwnPool& one) { return one.limits && one.pool.name == name; });
  if (own != own_pools.end()) return *own->limits;
  return {.disrupted = pool, .cordoned = cordoned, .min_healthy = min_healthy};
}

}  // namespace gpuward::remediator
