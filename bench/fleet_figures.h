// What is measured of a remediator and its fleet, and what it is held against. Used by fleet_bench.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "bench/fleet_remediator.h"
#include "bench/fleet_watch.h"

namespace gpuward::bench {

inline constexpr std::size_t kConnections = 8;  // of Alertmanager, and of the bare writer

[[nodiscard]] double seconds_between(SteadyTime begin, SteadyTime end);
[[nodiscard]] double quantile(std::vector<double> values, double q);

// Print the value, and return whether the promise is kept.
[[nodiscard]] bool at_least(const std::string& what, double value, double least);
[[nodiscard]] bool at_most(const std::string& what, double value, double most);

struct Cordoned {
  double nodes_a_second = 0;
  double recorded_a_second = 0;  // by when the Remediations say so too
  std::vector<double> answers_ms;
};
// Tells it of nodes [first, first + nodes) and waits until they are marked and recorded, as many as
// the ledger has room for. `first`: so many are already.
[[nodiscard]] Cordoned cordon(const FleetRemediator& remediator, MarkedNodes& marked,
                              std::size_t first, std::size_t nodes, const std::string& severity);

void print_memory(const std::string& who, const FleetRemediator& remediator);

}  // namespace gpuward::bench
