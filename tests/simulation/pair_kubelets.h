// The Job controller and the kubelets for the Jobs of two nodes (step nccl-pairs): the result
// follows the links of the two machines, or there is no output, or the Jobs are deleted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class PairKubelets {
 public:
  explicit PairKubelets(Stage& stage) : stage_(stage) {}

  // Draws one test and its next event.
  void go_on();
  // Both Jobs of each complete test exit with the honest result.
  void end_all();

 private:
  using Test = std::vector<Json>;  // its running Jobs
  // In the order in which they were made, because the names of Jobs differ in every replay.
  [[nodiscard]] std::vector<Test> running() const;
  [[nodiscard]] bool fails(const Test& jobs) const;
  void exit(const Json& job, int code, const std::string& words);
  void exit_honestly(const Json& job, bool fails);
  void pass_deadline(const Json& job);
  void remove(const Json& job);

  Stage& stage_;
  std::size_t seen_ = 0;  // number of Jobs that had been made when all had ended
};

}  // namespace gpuward::remediator::simulation
