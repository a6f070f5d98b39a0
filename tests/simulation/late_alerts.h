// What goes wrong on the way of alerts: copies of what was said long ago come late, after what was
// said since; ends are forged, or never said. Checks right after each what must be true of it. With
// chance of its own, so that the other simulations stay as they are.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "remediator/sources/absent_alerts.h"
#include "remediator/sources/intake.h"
#include "tests/simulation/silences.h"

namespace gpuward::remediator::simulation {

class LateAlerts {
 public:
  using Deliver = std::function<bool(const AlertSignal&)>;  // false: it was not taken

  LateAlerts(Stage& stage, Fleet& fleet, Silences& alertmanager)
      : stage_(stage), fleet_(fleet), alertmanager_(alertmanager) {}

  // The webhook has taken it.
  void on_taken(const AlertSignal& signal);
  // etcd is restored: the records do not know what was taken since the backup.
  void forget_what_was_taken() { started_.clear(); }
  // Perhaps something comes late, or is forged.
  void say_something(const Deliver& deliver);
  // What the poll of the Alertmanager does with what a replica knows; false where nothing ended.
  bool poll(std::vector<AlertSignal> known, const Deliver& deliver);
  // Whether nobody says that alerts end, so that only the poll can tell.
  [[nodiscard]] bool loses_ends() const {
    return stage_.setting.says_late && stage_.setting.has_alertmanager;
  }
  // At rest nothing counts as firing that does not.
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
  std::vector<AlertSignal> said_;  // once, in order
  // The latest start that was taken, by UID of the Remediation and fingerprint: a later one knows
  // of nothing that was said to an earlier.
  std::map<std::pair<std::string, std::string>, WallTime> started_;
};

}  // namespace gpuward::remediator::simulation
