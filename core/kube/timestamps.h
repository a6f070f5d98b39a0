// Times as Kubernetes writes them: MicroTime is what the fields of a Lease hold.
// Used by whoever writes a Lease. RFC 3339 without a fraction is core/runtime/clock.h.
#pragma once

#include <string>

#include "core/kube/objects.h"

namespace gpuward::kube {

// `2026-11-21T08:04:56.123456Z`, always six digits.
[[nodiscard]] std::string to_micro_time(WallTime time);

}  // namespace gpuward::kube
