// A write of a simulation that reached its API server, from any writer; the test sends it to the
// real server too. Plain values.
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
