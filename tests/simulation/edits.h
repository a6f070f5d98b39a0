// Operators, and tools that restore objects to old versions, edit gpuward's objects: the ownership
// annotation and the taint on a Node, and the status, the finalizers and the very existence of a
// Remediation. At any moment, in some simulations.
#pragma once

#include <map>
#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Edits {
 public:
  explicit Edits(Stage& stage) : stage_(stage) {}

  void do_something();
  // Removes the finalizers too.
  void delete_by_force(Remediation remediation);

 private:
  void edit_node(const NodeTruth& node);
  void edit_remediation(const Remediation& remediation);
  void annotate(const std::string& node, const Json& value, const std::string& what);
  // Allows edits of either the Node or the record: edits of both would turn another user's cordon
  // into gpuward's.
  [[nodiscard]] bool may_change(const std::string& node_uid, bool is_record);
  [[nodiscard]] bool knows_cordon_alone(const Remediation& remediation) const;

  Stage& stage_;
  std::map<std::string, std::string> seen_;  // by node UID: the last annotation
  std::map<std::string, bool> changed_;      // by node UID: whether the record was edited
};

}  // namespace gpuward::remediator::simulation
