// Rules for taint, cordon and annotation on a Node: they agree with their record, or an operator
// was notified. Any of them may have been edited.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class MarkRules {
 public:
  explicit MarkRules(const Stage& stage) : stage_(stage) {}

  // A replica has written a Remediation; `before` is null if it is new.
  void on_written(const Remediation* before, const Remediation& after);
  // Called at rest.
  void check_rest() const;
  // Called after each event; considers nodes that were not edited.
  void check_always() const;
  // Whether the Remediation of that name was last closed after `since`.
  [[nodiscard]] bool was_closed_since(const std::string& name, Tick since) const {
    const auto closed = closed_.find(name);
    return closed != closed_.end() && closed->second > since;
  }

  // Null if none is open. If two are open, returns the one that the node's annotation names,
  // otherwise the one that notified an operator.
  [[nodiscard]] const Remediation* open_for(const NodeTruth& node) const;

 private:
  void check_without_record(const NodeTruth& node) const;
  void check_with_record(const NodeTruth& node, const Remediation& open) const;

  const Stage& stage_;
  std::set<std::string> asked_;         // Remediations that ever asked an operator
  std::set<std::string> asked_nodes_;   // the same by node UID
  std::map<std::string, Tick> closed_;  // Remediations: when each was last closed
};

}  // namespace gpuward::remediator::simulation
