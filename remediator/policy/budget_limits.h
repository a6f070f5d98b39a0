// The limits of the policy's section `budgets` (read_budgets() reads it), with their defaults.
// Plain values. Shares are relative to the nodes in the census (fleet.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remediator/model/place.h"

namespace gpuward::remediator {

// The longest window that a policy may set.
inline constexpr std::chrono::hours kLongestWindow{24 * 7};

// The larger of a number of nodes and a percentage of the nodes.
struct Share {
  int nodes = 0;
  double percent = 0;

  friend bool operator==(const Share&, const Share&) = default;
};

// Returns the share as a maximum or as an alarm threshold, rounded down: 5 % of 39 nodes is 1.
// Without nodes the result is 0.
[[nodiscard]] int at_most(const Share& share, std::size_t nodes);
// Returns the share as a minimum that must remain, rounded up: 50 % of 3 nodes is 2.
[[nodiscard]] int at_least(const Share& share, std::size_t nodes);

// Limit for the nodes on which a disruption began within the window.
struct WindowLimit {
  Share share;
  std::chrono::milliseconds window{0};

  friend bool operator==(const WindowLimit&, const WindowLimit&) = default;
};

struct ScopeLimit {
  Share at_once;
  std::vector<WindowLimit> windows = {};

  friend bool operator==(const ScopeLimit&, const ScopeLimit&) = default;
};

// A limit among the nodes with the same value of `label`. It does not limit nodes without the
// label.
struct LabelLimit {
  std::string label;
  ScopeLimit limit;

  friend bool operator==(const LabelLimit&, const LabelLimit&) = default;
};

// The limits of each pool.
struct PoolLimits {
  ScopeLimit disrupted;
  Share cordoned, min_healthy;

  friend bool operator==(const PoolLimits&, const PoolLimits&) = default;
};

// A pool of the policy (`pools`).
struct OwnPool {
  LabelledPool pool;
  // nullopt: the nodes of the pool count as if the pool did not exist.
  std::optional<PoolLimits> limits;

  friend bool operator==(const OwnPool&, const OwnPool&) = default;
};

// All limits; docs/configuration.md describes each. The defaults allow that the only node of a pool
// is tainted and handled, so `tainted` allows two nodes and `min_healthy` is 0.
struct BudgetLimits {
  ScopeLimit cluster{.at_once = {1, 5}};
  ScopeLimit pool{.at_once = {1, 10}};
  ScopeLimit zone{.at_once = {1, 10}};
  std::vector<LabelLimit> labels = {
      {"topology.kubernetes.io/rack", {.at_once = {1, 0}}},
      {"nvidia.com/gpu.clique", {.at_once = {1, 0}}},
  };
  Share tainted{2, 20};
  Share cordoned{1, 10};
  std::vector<WindowLimit> terminations = {
      {{2, 0}, std::chrono::hours(1)},
      {{5, 0}, std::chrono::hours(24)},
  };
  Share min_healthy{0, 0};
  WindowLimit storm{{3, 10}, std::chrono::minutes(10)};
  WindowLimit breaker{{5, 10}, std::chrono::minutes(10)};
  std::chrono::milliseconds orphan_hold{std::chrono::hours(24)};
  std::vector<OwnPool> own_pools;  // In the policy's order.
  PlaceKeys keys;                  // place_keys() fills in `domains` and `own_pools`.

  // Returns the limits of the pool of that name.
  [[nodiscard]] PoolLimits in_pool(std::string_view name) const;

  friend bool operator==(const BudgetLimits&, const BudgetLimits&) = default;
};

// Returns whether the circuit breaker never opens by itself, because all nodes may fail at once.
[[nodiscard]] bool is_breaker_off(const BudgetLimits& limits);

// Returns the label keys with which the census must be read.
[[nodiscard]] PlaceKeys place_keys(const BudgetLimits& limits);

}  // namespace gpuward::remediator
