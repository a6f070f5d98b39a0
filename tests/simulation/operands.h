// The operands of NVIDIA's GPU operator, in some simulations with Jobs: the labels of each Node by
// which the operator runs them; their pods, which follow the labels after some time; and other
// programs and operators that change the labels. Has its own chance, so that the other simulations
// stay as they are.
#pragma once

#include <string>

#include "tests/simulation/fleet.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

// Draws, before anything happens, whether there is a GPU operator.
void let_operands_run(Setting& setting, Chance& chance);
// The operand labels of a new Node.
void put_operands(Stage& stage, Json& labels);
// How a sabotage bends the pods of a node that a replica reads.
void bend_operand_pods(const Stage& stage, Json& pods);

class SimulatedOperands {
 public:
  SimulatedOperands(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {}

  void do_something();
  // In the quiet time: no other program pauses an operand any more, and most pods follow their
  // labels.
  void end_all();
  // Whether a Node still has paused operands; the slow rounds of the leader resume them.
  [[nodiscard]] bool is_any_left() const;
  // Called at rest, after some rounds of the leader.
  void check_rest() const;

 private:
  void follow(const kube::Node& node, const std::string& operand);
  void pause_by_other(const kube::Node& node);
  void resume_by_other(const kube::Node& node);

  Stage& stage_;
  Fleet& fleet_;
};

// The rule: a replica changes only the labels of operands on a Node, from `true` to gpuward's value
// for a reset and back. No taint, cordon or annotation changes with them.
void check_operand_labels(const Stage& stage, const kube::Node& before, const kube::Node& after);

// The rule: a replica makes no reset Job while the node has a pod of an operand.
void check_operands(const Stage& stage, const std::string& node, const std::string& what);

}  // namespace gpuward::remediator::simulation
