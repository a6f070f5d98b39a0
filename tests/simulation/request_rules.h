// How much a replica may ask of the API server about one node: so much in one look at it, and no
// look at once after one that has changed nothing. Both bound its requests a minute. Part of the
// invariants.
#pragma once

#include <map>
#include <string>

#include "core/http/client/client.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class RequestRules {
 public:
  explicit RequestRules(const Stage& stage) : stage_(stage) {}

  // The replica that is at work asks the API server. In the quiet time.
  void on_request();
  // A look in the quiet time has ended; `wait` until the next one, as the product wants it.
  void on_looked(const std::string& node, bool has_changed, std::chrono::milliseconds wait);

 private:
  const Stage& stage_;
  std::map<std::string, int> hasty_;  // looks in a row, by node
};

}  // namespace gpuward::remediator::simulation
