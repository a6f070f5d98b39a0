// Rules for every change of a node for a drill. They judge by the label of that Node and by the
// times at which operators removed it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class DrillRules {
 public:
  explicit DrillRules(Stage& stage) : stage_(stage) {}

  // Operators have removed the label from the Node, or given it another value.
  void on_forbidden(const std::string& node_uid) { forbidden_[node_uid] = stage_.tick; }
  // etcd was restored: Nodes have their old labels.
  void on_restored() { restored_ = stage_.tick; }
  // A replica taints or cordons the node; `before` is the Node right before that.
  void check_marked(const Remediation& owner, const kube::Node& before) const;
  void check_intent(const Remediation& after, const StepRecord& record);
  // A real fault escalates only after its own steps, not after those of a drill.
  void on_written(const Remediation& before, const Remediation& after) const;
  // A call, a Job or an eviction leaves the remediator. `read`: when the replica read the Node for
  // it.
  void check_call(const std::string& remediation, Step step, Tick read) const;

 private:
  [[nodiscard]] bool is_of_drill(const Remediation& remediation, const StepRecord& record) const {
    const auto begun = begun_.find({remediation.name, record.step});
    return begun != begun_.end() && begun->second == record.intent_at;
  }

  Stage& stage_;
  std::map<std::string, Tick> forbidden_;  // by node UID: the last time
  Tick restored_ = 0;
  // Disruptive steps that began in a drill and not once more since, and when they were intended.
  std::map<std::pair<std::string, Step>, WallTime> begun_;
};

}  // namespace gpuward::remediator::simulation
