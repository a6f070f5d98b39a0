// Permits for tests that call a step directly.
#pragma once

#include "core/model/permit.h"

namespace gpuward::support {

inline const Permit given = [] { return Status(); };
inline const Permit refused = [] {
  return Status(fail(ErrorKind::kBlocked, "an operator has paused the remediation"));
};

}  // namespace gpuward::support
