// What a change of a Remediation's status has to be told of, and to whom: the notices are written
// with the change itself. Used by the reconciler.
#pragma once

#include <vector>

#include "remediator/model/remediation.h"
#include "remediator/notify/notifier.h"
#include "remediator/policy/notifications.h"

namespace gpuward::remediator {

// `next` with a notice for each moment between what `before` says and it that any sink wants.
[[nodiscard]] RemediationStatus with_notices(const Remediation& before, RemediationStatus next,
                                             const NotificationPolicy& policy, WallTime now);

// Hands the notices of the Remediation to their sinks; those that not all of them have, or have
// given up, yet.
[[nodiscard]] std::vector<Notice> submit_notices(const Remediation& remediation,
                                                 const NotificationPolicy& policy,
                                                 Notifications& notifications);

}  // namespace gpuward::remediator
