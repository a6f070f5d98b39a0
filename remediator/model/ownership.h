// Which taint, cordon and annotation on a node are ours, from the record of a Remediation and the
// node together. Operators and tools may edit either: what is not proven is not ours, and what
// contradicts waits for an operator. Pure; used by the decision, the actions, the sweep for what
// has no record, and `explain`.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Whether the cordon on the node is ours to take off: the record says so, and the annotation, if
// there is one, says the same. Never if a cordon was there before.
[[nodiscard]] bool is_own_cordon(const Remediation& remediation, const kube::Node& node);

// Whether it is unknown whose the cordon on the node is: it was intended and is not recorded as
// done, and no annotation says that it came with our patch.
[[nodiscard]] bool has_unclear_cordon(const Remediation& remediation, const kube::Node& node);

// Whether taint, annotation and cordon may all have been taken off by one patch that the record
// intends and does not know to be done. A cordon that stands then may be anybody's.
[[nodiscard]] bool may_be_returned(const Remediation& remediation, const kube::Node& node);

// Whether `one` acts on the node while `other` waits, both open for it: the one that the node's
// annotation names, else the one whose record has a step, else the older. Two are open only where a
// Remediation was deleted and the replicas heard of it at different moments.
[[nodiscard]] bool goes_first(const Remediation& one, const Remediation& other,
                              const kube::Node& node);

// How the node contradicts the record of an open Remediation; nullopt where they agree. What an
// operator has only taken off is manual_change's.
[[nodiscard]] std::optional<std::string> disagreement(const Remediation& remediation,
                                                      const kube::Node& node);

// Whether the node has our taint or our annotation, readable or not.
[[nodiscard]] bool has_our_taint_or_annotation(const kube::Node& node);

// Whether the annotation on the node cannot be read, names another Remediation, or says another
// thing of this one than its record. It is not written over: an operator has to see it.
[[nodiscard]] bool has_contradicting_annotation(const Remediation& remediation,
                                                const kube::Node& node);

// That of `records`, in any order, whose cordon is left on the node: it is closed and has never
// taken it off. Null for none, and where a later one knows more of the cordon.
[[nodiscard]] const Remediation* left_cordon(std::span<const Remediation> records,
                                             const kube::Node& node);

// The taint, the annotation and the cordon on the node, for people.
[[nodiscard]] std::string ownership_text(const kube::Node& node);

}  // namespace gpuward::remediator
