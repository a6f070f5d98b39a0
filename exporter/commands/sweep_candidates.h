// Which nodes a sweep may take, and why not the others. Pure; used by Sweep before it claims a node
// and again in the claim itself, because a node can change in between.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::exporter {

// Why a sweep leaves this node alone; nullopt where it may take it (if its GPUs are idle).
[[nodiscard]] std::optional<std::string> objection_to_sweep(const kube::Node& node,
                                                            kube::WallTime now);

// Whether the pod has GPUs or waits for some. A pod that has ended has given them back.
[[nodiscard]] bool has_gpus(const kube::Pod& pod);

// Those that no sweep has taken for longest first, so that a fleet larger than one sweep is gone
// through, and nodes whose check is always skipped keep no other from its turn.
void sort_by_last_sweep(std::vector<kube::Node>& nodes);

}  // namespace gpuward::exporter
