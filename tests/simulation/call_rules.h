// What must be true of the calls to the cloud and of what is written down of them: a failure counts
// against a machine only where the cloud has taken the call, and what it has taken is remembered.
// Part of the invariants.
#pragma once

#include <set>
#include <string>

#include "remediator/cloud/provider.h"
#include "tests/simulation/restore_rules.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class CallRules {
 public:
  CallRules(const Stage& stage, RestoreRules& restore) : stage_(stage), restore_(restore) {}

  // The cloud restarts or ends the machine for that Remediation.
  void on_taken(const remediator::Machine& order) {
    taken_for_.insert(order.remediation);
    restore_.on_taken(order);
  }
  // A replica asks the cloud to restart a machine, or a Job restarts it.
  void check_not_treated(const remediator::Machine& order, const std::string& what) const;
  // A Job on the node restarts the machine.
  void on_restarted(const remediator::Machine& order) const;
  // Why nobody may ask for it any more, as things stand; empty where nothing forbids it.
  [[nodiscard]] std::string forbidden(const remediator::Machine& order, Step step) const;
  // The cloud is asked for it by the replica that is at work.
  void check_leads(const remediator::Machine& order, Step step) const;
  // The cloud is asked for it; `before` is what forbade it before the last permit was asked for.
  void check_leave(const remediator::Machine& order, Step step, const std::string& before) const;
  // A replica has written a Remediation that was there before.
  void on_written(const Remediation& before, const Remediation& after) const;

 private:
  void check_escalation(const Remediation& before, const Remediation& after) const;
  void check_remembered(const Remediation& before, const Remediation& after) const;
  void check_words(const Remediation& after) const;
  // Whether it has had the machine restarted, as it says itself.
  [[nodiscard]] bool has_restarted(const Remediation& remediation) const;

  const Stage& stage_;
  RestoreRules& restore_;
  std::set<std::string> taken_for_;  // Remediations: a call of theirs
};

}  // namespace gpuward::remediator::simulation
