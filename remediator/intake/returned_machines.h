// Machines that come back under a new Node although nothing has proven that they are healthy: their
// Node was deleted, by whomever, while a Remediation kept them out of service. Their kubelet
// registers them again without taint or cordon. Each gets a Remediation of its own at once, with
// the severity of the last one. It ends where a fresh report says that the machine is healthy;
// after isolate only an operator ends it, and after a failed diagnostic a report is not enough.
#pragma once

#include <chrono>
#include <optional>

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
  // replica that leads, any thread.
  [[nodiscard]] Status take_in();

 private:
  [[nodiscard]] std::vector<AlertSignal> verified();
  // `has_failed_diagnostic`: of the machine, under an earlier Node.
  [[nodiscard]] bool is_verified(const Remediation& remediation, const AlertEvidence& alert,
                                 bool has_failed_diagnostic);

  const ClusterView& view_;
  Intake& intake_;
  HealthReports* reports_;
  const CurrentPolicy& policy_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
