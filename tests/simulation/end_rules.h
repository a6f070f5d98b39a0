// Rules for the end of machines: when a step may intend and request it, when it counts as done, and
// that a given-up machine does not come back unnoticed. Part of the invariants.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "remediator/act/cloud/provider.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class EndRules {
 public:
  explicit EndRules(const Stage& stage) : stage_(stage) {}

  void on_drained(const Remediation& remediation) { drained_.insert(drain_of(remediation)); }
  // etcd was restored: RestoreRules checks what was requested since the backup.
  void forget();
  // A replica intends a step after the drain.
  void check_drained(const Remediation& after, const std::string& what) const;
  void on_intent(const Remediation& after, const StepRecord& record);
  // A replica asks the cloud to end a machine (on_asked), and the cloud begins (on_accepted).
  void on_asked(const remediator::Machine& order);
  void on_accepted(const remediator::Machine& order, const std::string& ended);
  // A replica has written a Remediation; `before` is null if it is new.
  void on_written(const Remediation* before, const Remediation& after);
  // Called at rest.
  void check_known(const NodeTruth& node) const;
  void check_held(const Remediation& remediation) const;

 private:
  [[nodiscard]] static std::string drain_of(const Remediation& remediation) {
    return remediation.name + "/" + std::string(to_string(remediation.acted_severity()));
  }
  void check_volumes(const Remediation& owner, const std::string& node,
                     const std::string& what) const;
  void check_gone(const Remediation& remediation, const std::string& what) const;
  void check_not_forgotten(const Remediation& before, const Remediation& after) const;
  // If the policy waits for a replacement, a new node has joined that counts for no other
  // Remediation.
  void check_replacement(const Remediation& remediation);
  void note_opened(const Remediation& opened);

  struct LastOpened {
    std::string name, node_uid;
  };
  const Stage& stage_;
  std::set<std::string> drained_;                           // drains after which no pod was left
  std::set<std::string> may_ask_;                           // Remediations with an unused intent
  std::set<std::string> arrived_;                           // Remediations whose machine ends
  std::map<std::string, LastOpened> last_;                  // by instance
  std::set<std::pair<std::string, std::string>> have_any_;  // instance and UID of a Node
  std::map<std::string, std::string> replaces_;  // a Remediation, by the UID of the new node
};

}  // namespace gpuward::remediator::simulation
