// What must be true of every change of a node for a drill, judged by the label of that very Node
// and by when people have taken it away.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class DrillRules {
 public:
  explicit DrillRules(Stage& stage) : stage_(stage) {}

  // People have taken the label from the Node, or given it another value.
  void on_forbidden(const std::string& node_uid) { forbidden_[node_uid] = stage_.tick; }
  // etcd is restored: Nodes have the labels that they had once.
  void on_restored() { restored_ = stage_.tick; }
  // The node is tainted or cordoned: the Node as it was right before.
  void check_marked(const Remediation& owner, const kube::Node& before) const;
  void check_intent(const Remediation& after, const StepRecord& record);
  // A real fault takes what is worse after steps of its own, not of a drill.
  void on_written(const Remediation& before, const Remediation& after) const;
  // It leaves the remediator: a call, a Job, an eviction. `read`: when its Node was read for that.
  void check_call(const std::string& remediation, Step step, Tick read) const;

 private:
  [[nodiscard]] bool is_of_drill(const Remediation& remediation, const StepRecord& record) const {
    const auto begun = begun_.find({remediation.name, record.step});
    return begun != begun_.end() && begun->second == record.intent_at;
  }

  Stage& stage_;
  std::map<std::string, Tick> forbidden_;  // by node UID, the last time
  Tick restored_ = 0;
  // Disruptive steps that were begun in a drill and not anew since, and when they were intended.
  std::map<std::pair<std::string, Step>, WallTime> begun_;
};

}  // namespace gpuward::remediator::simulation
