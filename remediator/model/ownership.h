// Which taint, cordon and annotation on a node are gpuward's, judged from the record of a
// Remediation and the node together. Operators and tools may edit either: anything unproven is not
// gpuward's, and a contradiction waits for an operator. Pure; used by the decision, the actions,
// the sweep for taints without a record, and `explain`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Whether gpuward may remove the cordon on the node: the record says that gpuward set it, and the
// annotation, if there is one, agrees. Never if the node was cordoned before.
[[nodiscard]] bool is_own_cordon(const Remediation& remediation, const kube::Node& node);

// Whether the owner of the cordon on the node is unknown: the record intends it but does not have
// it as done, and no annotation says that it came with gpuward's patch.
[[nodiscard]] bool has_unclear_cordon(const Remediation& remediation, const kube::Node& node);

// Whether taint, annotation and cordon may all have been removed by one patch that the record
// intends but does not have as done. A cordon that is on the node then may be anyone's.
[[nodiscard]] bool may_be_returned(const Remediation& remediation, const kube::Node& node);

// Returns whether `one` acts on the node while `other` waits, if both are open for it. The one that
// the node's annotation names goes first; then the one that is not a drill; then the one that has
// begun a step; then the older one. Two are open only if a Remediation was deleted and the replicas
// learned of it at different moments.
[[nodiscard]] bool goes_first(const Remediation& one, const Remediation& other,
                              const kube::Node& node);

// Says how the node contradicts the record of an open Remediation; nullopt if they agree.
// manual_change handles what an operator has only removed.
[[nodiscard]] std::optional<std::string> disagreement(const Remediation& remediation,
                                                      const kube::Node& node);

// Whether the node has gpuward's taint or its annotation, readable or not.
[[nodiscard]] bool has_our_taint_or_annotation(const kube::Node& node);

// Whether the annotation on the node cannot be read, names another Remediation, or contradicts this
// one's record. gpuward does not overwrite it: an operator has to see it.
[[nodiscard]] bool has_contradicting_annotation(const Remediation& remediation,
                                                const kube::Node& node);

// Returns the closed Remediation among `records`, in any order, whose cordon is still on the node
// because it never removed it. Null if there is none, and if a later Remediation knows more about
// the cordon.
[[nodiscard]] const Remediation* left_cordon(std::span<const Remediation> records,
                                             const kube::Node& node);

// Describes the taint, the annotation and the cordon on the node, for people.
[[nodiscard]] std::string ownership_text(const kube::Node& node);

}  // namespace gpuward::remediator
