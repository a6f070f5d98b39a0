// The result of a sweep or a quarantine in an annotation of the node, written by them and read by
// the node's own agent. The agent keeps a failure on the node until a later diagnosis passes, so
// that its own quick checks never remove the taint of a diagnostic that takes minutes (the replaced
// suite removed it within five). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/api.h"
#include "core/kube/node_names.h"
#include "exporter/publish/node/node_wish.h"

namespace gpuward::exporter {

struct Diagnosis {
  WallTime when;
  NodeStatus status = NodeStatus::kUnknown;
  Severity severity = Severity::kNone;
  std::string suite;  // "sweep", "quarantine"
};

// Returns nullopt if the annotation is not from gpuward. The replaced suite's own quarantine-result
// stays on nodes that an operator returned long ago.
[[nodiscard]] std::optional<Diagnosis> parse_diagnosis(std::string_view annotation,
                                                       std::string_view suite);

// Returns the failures on the node, under any prefix, that no later pass has ended. The pass of a
// quarantine ends both kinds of failure, the pass of a sweep only a sweep's: the sweeper's token
// may write it on any node. A result whose time is in the future counts for nothing. A warning is
// neither a pass nor a failure, because a quarantine that could not test ends no failure.
[[nodiscard]] std::vector<Diagnosis> lasting_failures(const kube::Node& node, WallTime now);
// Returns whether any diagnosis is a failure. A warning must not replace that one, or a pass after
// it.
[[nodiscard]] bool has_failed_diagnosis(const kube::Node& node);

// Returns when a sweep last took the node, or the epoch if no sweep has. A time in the future
// counts for nothing: otherwise its writer would keep the node out of every sweep until then.
[[nodiscard]] WallTime last_sweep(const kube::Node& node, WallTime now);

// Adds to `change` the move of the node's diagnoses and of the time of its last sweep to other
// names. If both names have one, the newer stays.
void move_diagnoses(const kube::Node& node, const NodeNames& from, const NodeNames& to,
                    kube::NodeChange& change);

// Returns the wish, at least as bad as each lasting failure on the node unless a diagnostic of the
// agent has passed since.
[[nodiscard]] NodeWish with_diagnosis(NodeWish wish, const kube::Node& node, WallTime now);

}  // namespace gpuward::exporter
