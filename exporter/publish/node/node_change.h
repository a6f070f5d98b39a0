// From what the node should say and what it says to what must be written: only keys of our own, and
// nothing where nothing differs. Pure; used by the node writer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "exporter/publish/node/node_keys.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

// Labels, annotations and taint of the preset, what the exporter has left under the names of
// another preset, and the remains of expired claims.
[[nodiscard]] kube::NodeChange change_of(const NodeWish& wish, const NodeKeys& keys,
                                         const kube::Node& seen, kube::WallTime now);

// The condition to write; nullopt where the node says it already and its heartbeat is younger than
// `heartbeat`. Unknown never takes the place of True.
[[nodiscard]] std::optional<kube::NodeCondition> condition_of(const NodeWish& wish,
                                                              const kube::Node& seen,
                                                              kube::WallTime now,
                                                              std::chrono::milliseconds heartbeat);

// The annotation that the replaced suite's users read with `kubectl get node -o jsonpath`: one line
// of JSON, {timestamp, hostname, instance_type, status, severity, checks: [{check, status,
// severity}]}.
// At most 8 KiB, whatever the wish holds: all annotations of an object share 256 KiB. Checks that
// do not fit are left out from the end.
[[nodiscard]] std::string results_annotation(const NodeWish& wish, std::string_view node_name);

}  // namespace gpuward::exporter
