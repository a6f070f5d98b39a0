// How long a Remediation took to each of its milestones, as reported to people at the end of a
// drill. Pure; used by `explain` and by the notification that it is closed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct StepTime {
  std::string_view what;  // "recorded", "tainted", ..., "back in service"
  double seconds = 0;     // since the first alert fired
};

// Returns the milestones that it has passed, in their order; empty if there is no alert. `status`
// may be newer than that of the Remediation.
[[nodiscard]] std::vector<StepTime> step_times(const Remediation& remediation,
                                               const RemediationStatus& status);

// "recorded 0.4 s, tainted 1.2 s, ..."; empty if there is none.
[[nodiscard]] std::string step_times_text(const Remediation& remediation,
                                          const RemediationStatus& status);

}  // namespace gpuward::remediator
