// What is decided of a node whose cloud has announced something: when its drain begins, until when
// it stays drained, and whether it will be drained too late. What is announced is read from the
// Node at each decision, so that what was moved or cancelled counts at once. Pure; used inside
// decision/ alone.
#pragma once

#include <optional>
#include <string>

#include "remediator/decision/draft.h"
#include "remediator/decision/step_gates.h"

namespace gpuward::remediator {

// A drain waits until it is time, and for an announcement to this machine that is known to stand;
// what comes after it waits until the cloud says that it is over.
[[nodiscard]] std::optional<Gate> maintenance_before(const PlannedStep& step, const Policy& policy,
                                                     const DecisionInputs& inputs, WallTime now);

// What the cloud of the node's machine has announced and is at work on now, until its end, or for
// an hour where none is known; never longer than a day. What was read in another boot is over.
[[nodiscard]] std::optional<std::string> maintenance_under_way(const kube::Node& node,
                                                               WallTime now);

// Whether something is announced that the policy has steps for, whatever fault there is beside it.
[[nodiscard]] bool is_announced(const Policy& policy, const Remediation& remediation);

// Whether what is done for an announcement has lost its reason.
[[nodiscard]] bool is_called_off(const Policy& policy, const Remediation& remediation);

// Whether there is still a reason for what is done: where the node is maintained, an announcement
// with steps and nothing else; else any alert that counts.
[[nodiscard]] bool has_reason(const Draft& draft);
// When the last of these reasons ended; nullopt where one has not.
[[nodiscard]] std::optional<WallTime> reason_ended_at(const Draft& draft);

// What the Node itself says now that the policy has steps for; empty where nothing is. The record
// may have it as over: a view of the Node that was older has told the end. Also what another boot
// has read, or nobody knows to be true still: that starts no drain, and ends no maintenance.
[[nodiscard]] std::string standing_announcements(const Policy& policy,
                                                 const DecisionInputs& inputs);

// What is announced of the node, with the pods that it hits; empty where nothing is.
[[nodiscard]] std::string announced_text(const DecisionInputs& inputs);

// The same decision; where the drain will not be over before the start it says so, by a rule of
// which an operator is notified. Nothing is forced for it.
[[nodiscard]] Decision with_lateness(Draft& draft, Decision decision);

}  // namespace gpuward::remediator
