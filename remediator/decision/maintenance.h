// The decisions about a node with an announcement of its cloud: when its drain begins, until when
// it stays drained, and whether it will be drained too late. Each decision reads the announcements
// from the Node, so that a moved or cancelled one counts at once. Pure; used inside decision/
// alone.
#pragma once

#include <optional>
#include <string>

#include "remediator/decision/draft.h"
#include "remediator/decision/step_gates.h"

namespace gpuward::remediator {

// A drain waits until it is due, and until an announcement is known to hold for this machine; later
// steps wait until the cloud reports its end.
[[nodiscard]] std::optional<Gate> maintenance_before(const PlannedStep& step, const Policy& policy,
                                                     const DecisionInputs& inputs, WallTime now);

// Returns the announced work that the cloud does on the node's machine now: until its end, for an
// hour if it has none, never longer than a day. Work that was announced in another boot is over.
[[nodiscard]] std::optional<std::string> maintenance_under_way(const kube::Node& node,
                                                               WallTime now);

// Whether there is an announcement that the policy has steps for, even if there is also a fault.
[[nodiscard]] bool is_announced(const Policy& policy, const Remediation& remediation);

// Whether the steps for an announcement no longer have a reason.
[[nodiscard]] bool is_called_off(const Policy& policy, const Remediation& remediation);

// Whether the steps still have a reason: during maintenance only an announcement with steps,
// otherwise any alert that counts.
[[nodiscard]] bool has_reason(const Draft& draft);
// When the last of these reasons ended; nullopt if one has not.
[[nodiscard]] std::optional<WallTime> reason_ended_at(const Draft& draft);

// Returns the announcements on the Node now that the policy has steps for; empty if there are none.
// The record may have one as over, if an older view of the Node has reported its end. Includes
// announcements that were read in another boot or may be outdated: these start no drain, but no
// maintenance ends while they are there.
[[nodiscard]] std::string standing_announcements(const Policy& policy,
                                                 const DecisionInputs& inputs);

// Returns the announcements for the node, with the pods that they affect; empty if there are none.
[[nodiscard]] std::string announced_text(const DecisionInputs& inputs);

// Returns the same decision, but if the drain will not be over before the start, with a message and
// a rule that notify an operator. gpuward forces nothing in that case.
[[nodiscard]] Decision with_lateness(Draft& draft, Decision decision);

}  // namespace gpuward::remediator
