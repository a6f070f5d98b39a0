// What a machine is to those who need one like it: its pool, its type and its GPUs. Written down
// before the machine is ended, to tell later which node has come in its place. Pure.
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

// As a step's facts; what is not known is in none.
[[nodiscard]] Facts to_facts(const MachineKind& kind);
[[nodiscard]] MachineKind kind_in(const Facts& facts);

// A pool may span zones and racks: those are not asked for.
[[nodiscard]] bool is_in_pool_of(const MachineKind& lost, const MachineKind& offered);

// Why `offered` does less than `lost` did; nullopt where it does not, as far as that is known.
[[nodiscard]] std::optional<std::string> objection_to_kind(const MachineKind& lost,
                                                           const MachineKind& offered);

}  // namespace gpuward::remediator
