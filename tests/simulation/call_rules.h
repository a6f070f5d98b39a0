// Rules for the calls to the cloud and for their records: a failure counts against a machine only
// if the cloud accepted the call, and the record remembers each accepted call. Part of the
// invariants.
#pragma once

#include <set>
#include <string>

#include "remediator/act/cloud/provider.h"
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
  // Returns the reason why the step may not be requested now; empty if nothing forbids it.
  [[nodiscard]] std::string forbidden(const remediator::Machine& order, Step step) const;
  // The replica that is at work calls the cloud; checks that it leads.
  void check_leads(const remediator::Machine& order, Step step) const;
  // A replica calls the cloud; `before` is the reason that forbade it before the last permit was
  // requested.
  void check_leave(const remediator::Machine& order, Step step, const std::string& before) const;
  // A replica has written an existing Remediation.
  void on_written(const Remediation& before, const Remediation& after) const;

 private:
  void check_escalation(const Remediation& before, const Remediation& after) const;
  void check_remembered(const Remediation& before, const Remediation& after) const;
  void check_words(const Remediation& after) const;
  // Whether it restarted the machine, according to its own record.
  [[nodiscard]] bool has_restarted(const Remediation& remediation) const;

  const Stage& stage_;
  RestoreRules& restore_;
  std::set<std::string> taken_for_;  // Remediations whose call the cloud accepted
};

}  // namespace gpuward::remediator::simulation
