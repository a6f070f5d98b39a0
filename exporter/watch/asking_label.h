// Which label of a Node asks for its GPUs: NVIDIA's GPU operator is about to unload the driver, or
// MIG manager to change the GPUs, and no client of the driver may be left. The exporter releases
// the GPUs then (own_node.h), a sweep does not take the node, and a quarantine ends.
#pragma once

#include <optional>
#include <string>

#include "core/kube/api.h"

namespace gpuward::exporter {

// Returns the label as "key=value"; nullopt: there is none. Pure.
[[nodiscard]] std::optional<std::string> label_asking_for_gpus(const kube::Labels& labels);

// The same for the labels that the Node has now. nullopt also if the Node cannot be read, because a
// failure must not release GPUs.
[[nodiscard]] std::optional<std::string> label_asking_for_gpus(kube::Api& api,
                                                               const std::string& node);

}  // namespace gpuward::exporter
