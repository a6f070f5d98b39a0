// The operators of a cluster: at any moment they cordon and uncordon, pause, cancel and approve,
// exclude nodes, and turn the stop switch.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// An approval that an operator really gave, and for what.
struct Yes {
  std::string remediation, node_uid;
  Step step = Step::kReboot;
  std::set<std::string> fingerprints;
};

class Humans {
 public:
  explicit Humans(Stage& stage) : stage_(stage) {}

  void do_something();
  // Says it of the machines of all open Remediations that rest on their history; returns whether
  // there was one.
  bool say_all_replaced();
  // by token
  [[nodiscard]] const std::map<std::string, Yes>& yeses() const { return yeses_; }

 private:
  void touch_node();
  void untaint(const kube::Node& node);
  void say_replaced();
  void touch_remediation();
  void silence(const Remediation& remediation);
  void approve(Remediation remediation);

  Stage& stage_;
  std::map<std::string, Yes> yeses_;
};

}  // namespace gpuward::remediator::simulation
