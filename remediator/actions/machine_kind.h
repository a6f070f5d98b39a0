// The properties by which one machine can replace another: its pool, its type and its GPUs. They
// are recorded before the machine is ended, to tell later which node replaces it. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/place.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct MachineKind {
  std::optional<std::string> pool;  // as budgets count nodes (policy/place.h); absent: not known
  std::string instance_type;        // empty: not known
  std::vector<std::string> gpus;    // the names of its GPU resources, a few; empty: not known

  friend bool operator==(const MachineKind&, const MachineKind&) = default;
};

[[nodiscard]] MachineKind kind_of(const kube::Node& node, const PlaceKeys& keys);

// The kind as facts of a step; unknown properties have no fact.
[[nodiscard]] Facts to_facts(const MachineKind& kind);
[[nodiscard]] MachineKind kind_in(const Facts& facts);

// Zones and racks are ignored, because a pool may span them.
[[nodiscard]] bool is_in_pool_of(const MachineKind& lost, const MachineKind& offered);

// Returns why `offered` cannot do the work of `lost`; nullopt if it can, as far as that is known.
[[nodiscard]] std::optional<std::string> objection_to_kind(const MachineKind& lost,
                                                           const MachineKind& offered);

}  // namespace gpuward::remediator
