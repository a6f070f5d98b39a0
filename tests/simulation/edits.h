// People, and tools that keep objects as they once were, who edit what is not theirs: the ownership
// annotation and the taint on a Node, the status, the finalizers and the very existence of a
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
  // With its finalizers taken off.
  void delete_by_force(Remediation remediation);

 private:
  void edit_node(const NodeTruth& node);
  void edit_remediation(const Remediation& remediation);
  void annotate(const std::string& node, const Json& value, const std::string& what);
  // An edit of both the Node and the record would turn a cordon into ours: one of them stays.
  [[nodiscard]] bool may_change(const std::string& node_uid, bool is_record);
  [[nodiscard]] bool knows_cordon_alone(const Remediation& remediation) const;

  Stage& stage_;
  std::map<std::string, std::string> seen_;  // the last annotation, by node UID
  std::map<std::string, bool> changed_;      // by node UID: whether it was the record
};

}  // namespace gpuward::remediator::simulation
