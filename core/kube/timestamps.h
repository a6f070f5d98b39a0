// MicroTime, what the fields of a Lease hold. Used by whoever writes a Lease.
#pragma once

#include <string>

#include "core/kube/objects.h"

namespace gpuward::kube {

// `2026-11-21T08:04:56.123456Z`, always six digits.
[[nodiscard]] std::string to_micro_time(WallTime time);

}  // namespace gpuward::kube
