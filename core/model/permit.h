// Permission to change something, asked for right before the change and read afresh then. Used by
// the clients of the API server and of AWS, by drains and by the steps.
#pragma once

#include <functional>

#include "core/model/result.h"

namespace gpuward {

// An error says why nothing may be changed now, for an operator. Where it is optional, an
// empty one permits everything.
using Permit = std::function<Status()>;

}  // namespace gpuward
