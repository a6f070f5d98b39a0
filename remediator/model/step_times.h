// How long a Remediation took to each of its milestones, for people: what a drill ends with. Pure;
// used by `explain` and by the notification that it is closed.
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

// Those that it is past, in their order; nothing where there is no alert. `status` may be newer
// than that of the Remediation.
[[nodiscard]] std::vector<StepTime> step_times(const Remediation& remediation,
                                               const RemediationStatus& status);

// "recorded 0.4 s, tainted 1.2 s, ..."; empty where there is none.
[[nodiscard]] std::string step_times_text(const Remediation& remediation,
                                          const RemediationStatus& status);

}  // namespace gpuward::remediator
