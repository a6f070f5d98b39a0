// The operands of NVIDIA's GPU operator, in some simulations with Jobs: the labels of each Node by
// which the operator runs them, their pods, which follow the labels in their own time, and other
// programs and people that change the labels. With chance of its own, so that the other simulations
// stay as they are.
#pragma once

#include <string>

#include "tests/simulation/fleet.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Whether there is an operator, drawn before anything happens.
void let_operands_run(Setting& setting, Chance& chance);
// The labels of a Node that is registered.
void put_operands(Stage& stage, Json& labels);
// How a sabotage bends what a replica reads of the pods of a node.
void bend_operand_pods(const Stage& stage, Json& pods);

class SimulatedOperands {
 public:
  SimulatedOperands(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {}

  void do_something();
  // In the quiet time: no other program has paused an operand, and most pods follow their labels.
  void end_all();
  // Whether a Node has paused ones still: the slow rounds of the leader resume them.
  [[nodiscard]] bool is_any_left() const;
  // Once all is at rest and the leader has had its rounds.
  void check_rest() const;

 private:
  void follow(const kube::Node& node, const std::string& operand);
  void pause_by_other(const kube::Node& node);
  void resume_by_other(const kube::Node& node);

  Stage& stage_;
  Fleet& fleet_;
};

// The rule: of a Node's labels, a replica changes those of operands alone, `true` to gpuward's
// value for a reset, and that value back. No taint, cordon or annotation changes with them.
void check_operand_labels(const Stage& stage, const kube::Node& before, const kube::Node& after);

// The rule: a Job of a reset is made beside no pod of an operand.
void check_operands(const Stage& stage, const std::string& node, const std::string& what);

}  // namespace gpuward::remediator::simulation
