// What the API server takes from somebody who only writes: the requests of a remediation, and
// nothing else, back to back over kept connections. The yardstick of fleet_bench.
#pragma once

#include <cstddef>
#include <string>

#include "bench/fleet_cluster.h"

namespace gpuward::bench {

inline constexpr const char* kBareTaint = "bare-writer";

// Seconds for taint and cordon of nodes [0, nodes), one PATCH each.
[[nodiscard]] double patch_nodes(const FleetCluster& cluster, std::size_t nodes,
                                 std::size_t threads);
// Seconds for what is written for each node of a remediation up to its cordon: the Remediation, the
// intent, taint and cordon, the result, the Event.
[[nodiscard]] double write_remediations(const FleetCluster& cluster, std::size_t nodes,
                                        std::size_t threads);
inline constexpr std::size_t kWritesPerRemediation = 5;
// Takes off and away what the two have written.
void undo_bare_writes(const FleetCluster& cluster, std::size_t nodes, std::size_t threads);
// Evicts put_pods(first, nodes, each, prefix); returns when all are accepted.
void evict_pods(const FleetCluster& cluster, std::size_t first, std::size_t nodes, std::size_t each,
                const std::string& prefix, std::size_t threads);

}  // namespace gpuward::bench
