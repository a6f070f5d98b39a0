// The decisions about a node with an announcement of its cloud: when its drain begins, how long it
// stays drained, and whether the drain will be too late. Each decision reads the announcements from
// the Node, so that a moved or cancelled announcement counts at once. Pure; used inside decide/
// only.
#pragma once

#include <optional>
#include <string>

#include "remediator/decide/draft.h"
#include "remediator/decide/step_gates.h"

namespace gpuward::remediator {

// Returns why the step has to wait for the maintenance; nullopt if it may begin. A drain waits
// until it is due, and until an announcement is known to apply to this machine. Later steps wait
// until the cloud reports the end of the maintenance.
[[nodiscard]] std::optional<Gate> maintenance_before(const PlannedStep& step, const Policy& policy,
                                                     const DecisionInputs& inputs, WallTime now);

// Returns the announced work that the cloud does on the node's machine now; nullopt if there is
// none. The work lasts until its announced end, or for an hour without one, but never longer than a
// day. Work that was announced in another boot is over.
[[nodiscard]] std::optional<std::string> maintenance_under_way(const kube::Node& node,
                                                               WallTime now);

// Returns whether there is an announcement with steps in the policy, even if there is also a fault.
[[nodiscard]] bool is_announced(const Policy& policy, const Remediation& remediation);

// Returns whether the steps for an announcement no longer have a reason.
[[nodiscard]] bool is_called_off(const Policy& policy, const Remediation& remediation);

// Returns whether the steps still have a reason. During maintenance only an announcement with steps
// counts, otherwise any alert that counts.
[[nodiscard]] bool has_reason(const Draft& draft);
// Returns when the last of these reasons ended; nullopt if a reason has not ended.
[[nodiscard]] std::optional<WallTime> reason_ended_at(const Draft& draft);

// Returns the announcements on the Node now that have steps in the policy; empty if there are none.
// The record may have an announcement as over, because an older view of the Node reported its end.
// Announcements that were read in another boot or may be outdated are included. They start no
// drain, but no maintenance ends while they exist.
[[nodiscard]] std::string standing_announcements(const Policy& policy,
                                                 const DecisionInputs& inputs);

// Returns the announcements for the node, with the pods that they affect; empty if there are none.
[[nodiscard]] std::string announced_text(const DecisionInputs& inputs);

// Returns the same decision. If the drain will not end before the announced start, the decision
// gets a message and a rule that notify an operator. gpuward forces no drain in that case.
[[nodiscard]] Decision with_lateness(Draft& draft, Decision decision);

}  // namespace gpuward::remediator
