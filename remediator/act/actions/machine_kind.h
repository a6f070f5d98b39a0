// The properties that a replacement must share with the lost machine: pool, instance type and GPUs.
// The remediator records them before it ends a machine, and compares them later with new nodes.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/place.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct MachineKind {
  // Pool as the budgets count nodes (policy/place.h); nullopt if unknown.
  std::optional<std::string> pool;
  std::string instance_type;      // Instance type; empty if unknown.
  std::vector<std::string> gpus;  // Names of the node's GPU resources; empty if unknown.

  friend bool operator==(const MachineKind&, const MachineKind&) = default;
};

[[nodiscard]] MachineKind kind_of(const kube::Node& node, const PlaceKeys& keys);

// Returns the kind as facts of a step. Unknown properties have no fact.
[[nodiscard]] Facts to_facts(const MachineKind& kind);
[[nodiscard]] MachineKind kind_in(const Facts& facts);

// Returns whether `offered` is in the pool of `lost`; true if the pool of `lost` is unknown. Zones
// and racks are ignored, because a pool may span several.
[[nodiscard]] bool is_in_pool_of(const MachineKind& lost, const MachineKind& offered);

// Returns why `offered` cannot do the work of `lost`; nullopt if it can. Compares the instance
// types if both are known, and requires all GPU resources of `lost`.
[[nodiscard]] std::optional<std::string> objection_to_kind(const MachineKind& lost,
                                                           const MachineKind& offered);

}  // namespace gpuward::remediator
