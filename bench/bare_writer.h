// The rate at which the API server accepts a plain writer: only the requests of a remediation, back
// to back over kept connections. fleet_bench compares the remediator with it.
#pragma once

#include <cstddef>
#include <string>

#include "bench/fleet_cluster.h"

namespace gpuward::bench {

inline constexpr const char* kBareTaint = "bare-writer";

// Seconds for the taint and cordon of nodes [0, nodes), one PATCH each.
[[nodiscard]] double patch_nodes(const FleetCluster& cluster, std::size_t nodes,
                                 std::size_t threads);
// Seconds for the writes of a remediation up to its cordon, for each node: the Remediation, the
// intent, taint and cordon, the result, the Event.
[[nodiscard]] double write_remediations(const FleetCluster& cluster, std::size_t nodes,
                                        std::size_t threads);
inline constexpr std::size_t kWritesPerRemediation = 5;
// Removes and deletes what the two functions have written.
void undo_bare_writes(const FleetCluster& cluster, std::size_t nodes, std::size_t threads);
// Evicts put_pods(first, nodes, each, prefix); returns when the API server has accepted all.
void evict_pods(const FleetCluster& cluster, std::size_t first, std::size_t nodes, std::size_t each,
                const std::string& prefix, std::size_t threads);

}  // namespace gpuward::bench
