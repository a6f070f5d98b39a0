// From what the node should say and what it says to what must be written: only keys of our own, and
// nothing where nothing differs. Pure; used by the node writer.
#pragma once

#include <chrono>
#include <optional>

#include "core/kube/api.h"
#include "exporter/publish/node/node_keys.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

// Labels, annotation and taint of the preset, and the remains of expired claims.
[[nodiscard]] kube::NodeChange change_of(const NodeWish& wish, const NodeKeys& keys,
                                         const kube::Node& seen, kube::WallTime now);

// The condition to write; nullopt where the node says it already and its heartbeat is younger than
// `heartbeat`. Unknown never takes the place of True.
[[nodiscard]] std::optional<kube::NodeCondition> condition_of(const NodeWish& wish,
                                                              const kube::Node& seen,
                                                              kube::WallTime now,
                                                              std::chrono::milliseconds heartbeat);

}  // namespace gpuward::exporter
