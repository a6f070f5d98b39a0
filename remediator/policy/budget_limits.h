// The limits of the policy's section `budgets` (read_budgets() reads it), with their defaults.
// Plain values. Shares are of the nodes in the census (fleet.h).
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

// Fractions of a node are rounded to the safe side. A maximum, and a threshold that sets off an
// alarm, is rounded down: 5 % of 39 nodes is 1. Without nodes nothing is allowed.
[[nodiscard]] int at_most(const Share& share, std::size_t nodes);
// A minimum that must remain is rounded up: 50 % of 3 nodes is 2.
[[nodiscard]] int at_least(const Share& share, std::size_t nodes);

// A limit of nodes that were begun within the window.
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

// A limit among the nodes that share a value of `label`; it does not limit nodes without the label.
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
  std::optional<PoolLimits> limits;  // none: its nodes count as if this pool did not exist

  friend bool operator==(const OwnPool&, const OwnPool&) = default;
};

// docs/configuration.md says what each limits. The only node of a pool can always be tainted and
// handled: `tainted` therefore allows two, and there is no `min_healthy`.
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
  std::vector<OwnPool> own_pools;  // in the policy's order
  PlaceKeys keys;                  // `domains` and `own_pools` are filled by place_keys()

  // Returns the limits of the pool of that name.
  [[nodiscard]] PoolLimits in_pool(std::string_view name) const;

  friend bool operator==(const BudgetLimits&, const BudgetLimits&) = default;
};

// Whether the circuit breaker never opens by itself: all nodes may fail at once.
[[nodiscard]] bool is_breaker_off(const BudgetLimits& limits);

// Returns the label keys with which the census must be read.
[[nodiscard]] PlaceKeys place_keys(const BudgetLimits& limits);

}  // namespace gpuward::remediator
