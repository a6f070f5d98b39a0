// The measurements of a remediator and its fleet, and their limits. Used by fleet_bench.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/fleet_remediator.h"
#include "bench/fleet_watch.h"

namespace gpuward::bench {

inline constexpr std::size_t kConnections = 8;  // Alertmanager's, and the bare writer's

[[nodiscard]] double seconds_between(SteadyTime begin, SteadyTime end);
[[nodiscard]] double quantile(std::vector<double> values, double q);

// Print the value, and return whether the promise is kept.
[[nodiscard]] bool at_least(const std::string& what, double value, double least);
[[nodiscard]] bool at_most(const std::string& what, double value, double most);

struct Cordoned {
  double nodes_a_second = 0;
  double recorded_a_second = 0;  // until the Remediations record it too
  std::vector<double> answers_ms;
};
// Alerts it about nodes [first, first + nodes) and waits until they are tainted, cordoned and
// recorded, as many as the ledger has room for. `first` nodes are already.
[[nodiscard]] Cordoned cordon(const FleetRemediator& remediator, MarkedNodes& marked,
                              std::size_t first, std::size_t nodes, const std::string& severity);

void print_memory(const std::string& who, const FleetRemediator& remediator);

}  // namespace gpuward::bench
