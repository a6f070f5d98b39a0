// The people around a cluster: they cordon and uncordon, pause, cancel and approve as they please,
// take nodes out of gpuward's hands, and throw the switch that stops everything.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// A yes that a human has really given, and to what.
struct Yes {
  std::string remediation, node_uid;
  Step step = Step::kReboot;
  std::set<std::string> fingerprints;
};

class Humans {
 public:
  explicit Humans(Stage& stage) : stage_(stage) {}

  void do_something();
  // Of the machines of all open Remediations that rest on their history; whether there was one.
  bool say_all_replaced();
  // By token.
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
