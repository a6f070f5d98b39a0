// What a sweep or a quarantine has found out about a node, as it stands in an annotation of the
// node: written by them, read by the node's own agent. The agent keeps a failure on the node until
// a diagnosis that is newer passes, so that its own quick checks never lift the taint of a
// diagnostic that takes minutes (the replaced suite lifted it within five). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

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

// nullopt for what is none: an annotation that gpuward did not write says nothing. The replaced
// suite's own quarantine-result stays on nodes that an operator has long returned.
[[nodiscard]] std::optional<Diagnosis> parse_diagnosis(std::string_view annotation,
                                                       std::string_view suite);

// The newest pass or failure that the node carries, under any prefix; nullopt for none. A
// warning is neither: a quarantine that could not test ends no failure.
[[nodiscard]] std::optional<Diagnosis> newest_diagnosis(const kube::Node& node);
// Whether any of them is a failure. A warning must not overwrite it, nor a pass that has ended it.
[[nodiscard]] bool has_failed_diagnosis(const kube::Node& node);

// When a sweep last took the node; the epoch for never.
[[nodiscard]] WallTime last_sweep(const kube::Node& node);

// Adds to `change` what puts the diagnoses of the node, and when it was last swept, under other
// names: of two the newer stays.
void move_diagnoses(const kube::Node& node, const NodeNames& from, const NodeNames& to,
                    kube::NodeChange& change);

// The wish, as bad as the newest diagnosis on the node unless a diagnostic of the agent's own has
// passed since.
[[nodiscard]] NodeWish with_diagnosis(NodeWish wish, const kube::Node& node);

}  // namespace gpuward::exporter
