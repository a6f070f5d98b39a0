// The pods on the nodes of a simulation, and the programs other than the remediator that act on
// them: the controllers that make each again on some node under its name, the kubelets that end
// them, and the collector of pods whose Node is gone.
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
  // Makes some pods for each node.
  explicit Pods(Stage& stage);

  // Perhaps one event of one pod.
  void go_on();
  // Moves one pod from a cordoned node to another, under its name; false if there is none.
  bool move_one();
  // In the quiet time: pods that are ending end, and only those come that Newcomers sends.
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
  std::vector<std::string> names_;  // the names of all pods
};

}  // namespace gpuward::remediator::simulation
