// Faults in the delivery of alerts: old copies arrive after newer alerts, and ends are forged or
// lost. Checks the rules right after each. Has its own chance, so that the other simulations stay
// as they are.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "remediator/inbox/sources/absent_alerts.h"
#include "remediator/inbox/sources/intake.h"
#include "tests/simulation/silences.h"

namespace gpuward::remediator::simulation {

class LateAlerts {
 public:
  using Deliver = std::function<bool(const AlertSignal&)>;  // false: the webhook did not accept it

  LateAlerts(Stage& stage, Fleet& fleet, Silences& alertmanager)
      : stage_(stage), fleet_(fleet), alertmanager_(alertmanager) {}

  // The webhook has accepted it.
  void on_taken(const AlertSignal& signal);
  // etcd was restored: the records do not have the alerts that were accepted since the backup.
  void forget_what_was_taken() { started_.clear(); }
  // Perhaps an old copy arrives, or a forged end.
  void say_something(const Deliver& deliver);
  // Polls the Alertmanager for the alerts that a replica has; returns false if none has ended.
  bool poll(std::vector<AlertSignal> known, const Deliver& deliver);
  // Whether ends are lost, so that only the poll finds them.
  [[nodiscard]] bool loses_ends() const {
    return stage_.setting.says_late && stage_.setting.has_alertmanager;
  }
  // At rest no alert that has ended counts as firing.
  void check_rest() const;

 private:
  [[nodiscard]] std::vector<const Remediation*> holders_of(const AlertSignal& signal) const;
  [[nodiscard]] const Remediation* holder_of(const AlertSignal& signal) const;
  [[nodiscard]] const AlertEvidence* evidence_of(const AlertSignal& signal) const;
  [[nodiscard]] const Alert* alert_of(const std::string& fingerprint) const;
  [[nodiscard]] AlertSignal forged_end();
  void say_late(const AlertSignal& signal, const Deliver& deliver);

  Stage& stage_;
  Fleet& fleet_;
  Silences& alertmanager_;
  AbsentAlerts absent_{std::chrono::minutes(2), std::chrono::seconds(30)};
  std::vector<AlertSignal> said_;  // each once, in order
  // The latest start that a Remediation accepted, by its UID and the fingerprint. A later
  // Remediation does not have the alerts of an earlier one.
  std::map<std::pair<std::string, std::string>, WallTime> started_;
};

}  // namespace gpuward::remediator::simulation
