// Which label of a Node asks for its GPUs: NVIDIA's GPU operator is about to unload the driver, or
// MIG manager to change the GPUs, and no client of the driver may be left. The exporter lets go of
// them then (own_node.h); a sweep takes no such node, and a quarantine ends there.
#pragma once

#include <optional>
#include <string>

#include "core/kube/api.h"

namespace gpuward::exporter {

// As "key=value"; nullopt: none does. Pure.
[[nodiscard]] std::optional<std::string> label_asking_for_gpus(const kube::Labels& labels);

// The same of the labels that the Node has now. nullopt also if it cannot be read: a failure asks
// for nothing.
[[nodiscard]] std::optional<std::string> label_asking_for_gpus(kube::Api& api,
                                                               const std::string& node);

}  // namespace gpuward::exporter
