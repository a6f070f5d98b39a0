// Machines that return under a new Node although nothing has proven them healthy: their Node was
// deleted while a Remediation kept them out of service, and their kubelet registers them again
// without taint or cordon. Each gets a Remediation of its own at once, with the severity of the
// last one. It ends if fresh reports show the machine healthy for as long as `verify` takes,
// without a break. After isolate only an operator ends it, and after a failed diagnostic a report
// is not enough.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/model/health_report.h"
#include "remediator/model/history_alerts.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class ReturnedMachines {
 public:
  // The arguments must outlive this object. If `reports` is null, no machine is verified.
  ReturnedMachines(const ClusterView& view, Intake& intake, HealthReports* reports,
                   const CurrentPolicy& policy, Clock& clock)
      : view_(view), intake_(intake), reports_(reports), policy_(policy), clock_(clock) {}

  // Checks all nodes. Opens missing Remediations, one per node, and ends Remediations of verified
  // machines. Called by the leader, on one thread at a time.
  [[nodiscard]] Status take_in();

 private:
  // A machine that was healthy at every check since `begun`. The state is lost with the process,
  // and the next process starts a new soak time.
  struct Soak {
    std::string boot_id;
    std::optional<WallTime> ready_since = {};
    WallTime alerts_ended{};  // When the last other alert ended.
    Clock::Steady begun{}, looked_at{};
  };
  // Name of the Remediation, fingerprint of the alert.
  using SoakKey = std::pair<std::string, std::string>;
  using Soaks = std::map<SoakKey, Soak>;

  [[nodiscard]] std::vector<AlertSignal> verified();
  // Returns whether the machine has been healthy long enough; records the time so far in `soaks`.
  // `failed_machines`: nodes with a machine that failed a diagnostic under an earlier Node.
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
