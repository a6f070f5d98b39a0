// What a fleet of thousands costs: nodes with twelve pods each on a real kube-apiserver, a leader
// and a standby, 5 % of the nodes broken at once and then 50 %, whose leader is killed when it
// knows of half of them. kwok plays the kubelets, with their Leases and heartbeats, where $KWOK
// names its program; else nobody does. Used by fleet_bench.
#pragma once

#include <cstddef>

namespace gpuward::bench {

// Prints what it measures; whether each promise was kept, which are about at most 5,000 nodes.
[[nodiscard]] bool measure_large_fleet(std::size_t nodes);

}  // namespace gpuward::bench
