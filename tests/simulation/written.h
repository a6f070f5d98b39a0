// Every write of a simulation that has reached its API server, by whomever: what the real one is
// told again. Plain values.
#pragma once

#include <string>

#include "core/runtime/json.h"

namespace gpuward::remediator::simulation {

struct Written {
  std::string method, path;
  Json body;
  int status = 0;
  Json answer;  // the object after it
};

}  // namespace gpuward::remediator::simulation
