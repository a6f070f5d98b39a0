// The pods on the nodes of a simulation, and who else than the remediator deals with them: the
// controller that makes each anew somewhere under its name, the kubelets that end them, the
// collector of those whose Node is gone.
#pragma once

#include <string>
#include <vector>

#include "tests/simulation/newcomers.h"
#include "tests/simulation/pod_ends.h"
#include "tests/simulation/pod_holds.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Pods {
 public:
  // Makes some for each node.
  explicit Pods(Stage& stage);

  // Something happens to one of them, perhaps.
  void go_on();
  // One on a cordoned node is made elsewhere, under its name; false if there is none.
  bool move_one();
  // In the quiet time: what is to end ends, and only those come that Newcomers sends.
  void end_all();

 private:
  void start(const std::string& name, std::string node_name = {});
  void come_to_drained_node();
  void end(const std::string& name);
  void end_where(bool only_one, const auto& must_end);

  Stage& stage_;
  PodHolds holds_;
  PodEnds ends_;
  Newcomers newcomers_;
  std::vector<std::string> names_;  // of all that there should be
};

}  // namespace gpuward::remediator::simulation
