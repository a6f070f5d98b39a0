// Limits on the requests of a replica to the API server about one node: at most so many in one
// look, and no immediate look after one that changed nothing. Together they limit the requests per
// minute. Part of the invariants.
#pragma once

#include <map>
#include <string>

#include "core/http/client/client.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class RequestRules {
 public:
  explicit RequestRules(const Stage& stage) : stage_(stage) {}

  // The replica that is at work sends a request to the API server, in the quiet time.
  void on_request();
  // A look in the quiet time has ended; the product wants the next one after `wait`.
  void on_looked(const std::string& node, bool has_changed, std::chrono::milliseconds wait);

 private:
  const Stage& stage_;
  std::map<std::string, int> hasty_;  // hasty looks in a row, by node
};

}  // namespace gpuward::remediator::simulation
