// Permission to change something. The caller asks right before the change, and the permit reads the
// state again each time. Used by the clients of the API server and of AWS, by drains and by the
// steps.
#pragma once

#include <functional>

#include "core/model/result.h"

namespace gpuward {

// An error says, for an operator, why nothing may be changed now. If a permit is optional, an empty
// one permits everything.
using Permit = std::function<Status()>;

}  // namespace gpuward
