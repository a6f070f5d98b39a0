// The cost of a fleet of thousands: nodes with twelve pods each on a real kube-apiserver, a leader
// and a standby, 5 % of the nodes broken at once and then 50 %, with the leader killed when it
// knows half of them. If $KWOK names the program, kwok plays the kubelets, with their Leases and
// heartbeats; otherwise there are no kubelets. Used by fleet_bench.
#pragma once

#include <cstddef>

namespace gpuward::bench {

// Prints its measurements; returns whether each promise was kept. The promises apply to at most
// 5,000 nodes.
[[nodiscard]] bool measure_large_fleet(std::size_t nodes);

}  // namespace gpuward::bench
