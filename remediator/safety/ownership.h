// Whose taint, cordon and annotation are on a node, as the record of a Remediation and the node say
// together. Anybody may edit either: what they do not both prove is not ours, and what they cannot
// both mean waits for a human. Pure; used by the decision, the actions, the sweep for what has no
// record, and `explain`.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/policy/remediation.h"

namespace gpuward::remediator {

// Whether the cordon on the node is ours to take off: the record says so, and the annotation, where
// there is one, says the same. Never where a cordon was there before.
[[nodiscard]] bool is_own_cordon(const Remediation& remediation, const kube::Node& node);

// Whether taint, annotation and cordon may all have been taken off by one patch that the record
// intends and does not know to be done. A cordon that stands then may be anybody's.
[[nodiscard]] bool may_be_returned(const Remediation& remediation, const kube::Node& node);

// What the node and the record of an open Remediation cannot both mean; nullopt where they agree.
// What a human has only taken off is human_override's.
[[nodiscard]] std::optional<std::string> disagreement(const Remediation& remediation,
                                                      const kube::Node& node);

// Whether the node bears our taint or our annotation, readable or not.
[[nodiscard]] bool bears_marks(const kube::Node& node);

// Whether a cordon on the node is left of that Remediation, which is closed and has never taken it
// off.
[[nodiscard]] bool has_left_cordon(const Remediation& closed, const kube::Node& node);

// The taint, the annotation and the cordon on the node, for people.
[[nodiscard]] std::string marks_text(const kube::Node& node);

}  // namespace gpuward::remediator
