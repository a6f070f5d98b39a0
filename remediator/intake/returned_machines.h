// Machines that come back under a new Node although nothing has proven that they are healthy: their
// Node was deleted, by whomever, while a Remediation kept them out of service. Their kubelet
// registers them again without taint or cordon. Each gets a Remediation of its own at once, with
// the severity of the last one. It ends if fresh reports say that the machine is healthy, for as
// long as `verify` takes and without a break; after isolate only an operator ends it, and after a
// failed diagnostic a report is not enough.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/model/health_report.h"
#include "remediator/model/history_alerts.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/sources/intake.h"

namespace gpuward::remediator {

class ReturnedMachines {
 public:
  // All must outlive it. `reports` may be null: then nothing is verified.
  ReturnedMachines(const ClusterView& view, Intake& intake, HealthReports* reports,
                   const CurrentPolicy& policy, Clock& clock)
      : view_(view), intake_(intake), reports_(reports), policy_(policy), clock_(clock) {}

  // Looks at all nodes; opens what is missing, once a node, and ends what is verified. By the
  // replica that leads; one thread at a time.
  [[nodiscard]] Status take_in();

 private:
  // The machine is healthy at every look since `begun`. Dies with the process, and restarts in the
  // next.
  struct Soak {
    std::string boot_id;
    std::optional<WallTime> ready_since = {};
    WallTime alerts_ended{};  // but for those of history
    Clock::Steady begun{}, looked_at{};
  };
  using SoakKey = std::pair<std::string, std::string>;  // Remediation, fingerprint of the alert
  using Soaks = std::map<SoakKey, Soak>;

  [[nodiscard]] std::vector<AlertSignal> verified();
  // `failed_machines`: nodes whose machine failed a diagnostic under an earlier Node. Notes in
  // `soaks` what is healthy and has not soaked yet.
  [[nodiscard]] bool is_verified(const Remediation& remediation, const AlertEvidence& alert,
                                 const std::set<std::string>& failed_machines, Soaks& soaks);
  [[nodiscard]] bool has_soaked(const Remediation& remediation, const kube::Node& node,
                                Soak& soak) const;

  const ClusterView& view_;
  Intake& intake_;
  HealthReports* reports_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Soaks soaks_;
};

}  // namespace gpuward::remediator
