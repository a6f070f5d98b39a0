// The Job controller and the kubelets of the Jobs of two nodes (step nccl-pairs): they end as the
// links of the two machines are, or say nothing, or are deleted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class PairKubelets {
 public:
  explicit PairKubelets(Stage& stage) : stage_(stage) {}

  // What runs for one of the tests goes on; which and how is drawn.
  void go_on();
  // All that run two by two end as they should.
  void end_all();

 private:
  using Test = std::vector<Json>;  // its Jobs that run
  // In the order in which they were made: names of Jobs are another at every replay.
  [[nodiscard]] std::vector<Test> running() const;
  [[nodiscard]] bool fails(const Test& jobs) const;
  void exit(const Json& job, int code, const std::string& words);
  void exit_honestly(const Json& job, bool fails);
  void pass_deadline(const Json& job);
  void remove(const Json& job);

  Stage& stage_;
  std::size_t seen_ = 0;  // of the Jobs that were made, when all had ended
};

}  // namespace gpuward::remediator::simulation
