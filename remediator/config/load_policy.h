// The policy of --config.file as the flags and the environment change it. Used at start, at each
// reload and by the commands about policies.
#pragma once

#include "core/model/result.h"
#include "remediator/config/flags.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// With the flag --mode, the templates of Jobs and the sinks of the environment; the default policy
// where no file is named. kInvalid: `file:line: field: what`, one line a fault.
[[nodiscard]] Result<Policy> load_policy(const Flags& flags);

}  // namespace gpuward::remediator
