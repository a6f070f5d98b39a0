// Which nodes a sweep may take, and the reasons against the others. Pure; used by Sweep before it
// claims a node and again in the claim itself, because a node can change in between.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::exporter {

// Returns why a sweep leaves this node alone; nullopt if it may take it (if its GPUs are idle).
[[nodiscard]] std::optional<std::string> objection_to_sweep(const kube::Node& node,
                                                            kube::WallTime now);

// Returns whether the pod has or requests GPUs. A pod that has ended has none.
[[nodiscard]] bool has_gpus(const kube::Pod& pod);

// Sorts the node with the oldest sweep first, so that a fleet larger than one sweep is covered and
// nodes whose check is always skipped do not block others.
void sort_by_last_sweep(std::vector<kube::Node>& nodes, kube::WallTime now);

}  // namespace gpuward::exporter
