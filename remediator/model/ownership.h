// Decides which taint, cordon and annotation on a node are gpuward's, from the record of a
// Remediation and the node together. Operators and tools may edit both. So anything unproven is not
// gpuward's, and a contradiction waits for an operator. Pure; used by the decision, the actions,
// the sweep for taints without a record, and `explain`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Returns whether gpuward may remove the cordon on the node: the record says that gpuward set it,
// and an existing annotation agrees. Returns false if the node was cordoned before.
[[nodiscard]] bool is_own_cordon(const Remediation& remediation, const kube::Node& node);

// Returns whether the owner of the cordon is unknown: the record has gpuward's cordon as intended
// but not as done, and no annotation says that gpuward's patch set it.
[[nodiscard]] bool has_unclear_cordon(const Remediation& remediation, const kube::Node& node);

// Returns whether one patch that the record intends, but does not have as done, may have removed
// taint, annotation and cordon. A cordon on the node then has an unknown owner.
[[nodiscard]] bool may_be_returned(const Remediation& remediation, const kube::Node& node);

// Returns whether `one` acts on the node while `other` waits, if both are open for the node. First
// comes the Remediation in the node's annotation, then one that is not a drill, then one that has
// begun a step, then the older one. Two are open only if a Remediation was deleted and the replicas
// learned of it at different moments.
[[nodiscard]] bool goes_first(const Remediation& one, const Remediation& other,
                              const kube::Node& node);

// Returns how the node contradicts the record of an open Remediation; nullopt if they agree.
// manual_change handles changes that an operator has only removed.
[[nodiscard]] std::optional<std::string> disagreement(const Remediation& remediation,
                                                      const kube::Node& node);

// Returns whether the node has gpuward's taint or its annotation, even with an invalid text.
[[nodiscard]] bool has_our_taint_or_annotation(const kube::Node& node);

// Returns whether the annotation on the node is invalid, names another Remediation, or contradicts
// this Remediation's record. gpuward does not overwrite such an annotation, because an operator
// must see it.
[[nodiscard]] bool has_contradicting_annotation(const Remediation& remediation,
                                                const kube::Node& node);

// Returns the closed Remediation in `records` that has left its cordon on the node; null if there
// is none, or if a later Remediation knows more about the cordon. `records` may have any order.
[[nodiscard]] const Remediation* left_cordon(std::span<const Remediation> records,
                                             const kube::Node& node);

// Returns a text for people about the taint, the annotation and the cordon on the node.
[[nodiscard]] std::string ownership_text(const kube::Node& node);

}  // namespace gpuward::remediator
