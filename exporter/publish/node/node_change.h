// Computes what to write from the wish and the current node: only gpuward's own keys, and nothing
// if nothing differs. Pure; used by the node writer.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "exporter/publish/node/node_keys.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

// Returns labels, annotations and taint of the preset, and the removal of the exporter's names of
// another preset and of the remains of expired claims.
[[nodiscard]] kube::NodeChange change_of(const NodeWish& wish, const NodeKeys& keys,
                                         const kube::Node& seen, kube::WallTime now);

// Returns the condition to write; nullopt if the node has it already and its heartbeat is younger
// than `heartbeat`. Unknown never replaces True.
[[nodiscard]] std::optional<kube::NodeCondition> condition_of(const NodeWish& wish,
                                                              const kube::Node& seen,
                                                              kube::WallTime now,
                                                              std::chrono::milliseconds heartbeat);

// Returns the annotation that the replaced suite's users read with `kubectl get node -o jsonpath`:
// one line of JSON, {timestamp, hostname, instance_type, status, severity, checks: [{check, status,
// severity}]}.
// At most 8 KiB, because all annotations of an object share 256 KiB. Checks that do not fit are
// left out from the end.
[[nodiscard]] std::string results_annotation(const NodeWish& wish, std::string_view node_name);

}  // namespace gpuward::exporter
