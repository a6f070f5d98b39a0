// Taint, cordon and annotation on a Node, and the record of them, say the same, or a human was
// told: whoever has edited which of them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class MarkRules {
 public:
  explicit MarkRules(const Stage& stage) : stage_(stage) {}

  // A replica has written a Remediation; `before` null: it is new.
  void on_written(const Remediation* before, const Remediation& after);
  // Once all is at rest.
  void check_rest() const;
  // Of nodes that nobody has edited: at every moment.
  void check_always() const;
  // Whether the Remediation of that name was last closed after `since`.
  [[nodiscard]] bool was_closed_since(const std::string& name, Tick since) const {
    const auto closed = closed_.find(name);
    return closed != closed_.end() && closed->second > since;
  }

  // Null for none. Where two are open: the one that the node's annotation names, else one that
  // somebody was told of.
  [[nodiscard]] const Remediation* open_for(const NodeTruth& node) const;

 private:
  void check_without_record(const NodeTruth& node) const;
  void check_with_record(const NodeTruth& node, const Remediation& open) const;

  const Stage& stage_;
  std::set<std::string> asked_;         // Remediations that a human was ever asked about
  std::set<std::string> asked_nodes_;   // the same by node UID
  std::map<std::string, Tick> closed_;  // Remediations: when each was last closed
};

}  // namespace gpuward::remediator::simulation
