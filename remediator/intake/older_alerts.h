// An alert that has fired since before its Node was registered may be about another machine that
// had the name: Prometheus keeps it for a while (keep_firing_for). If the exporter reports that
// severity for this machine, the alert still applies. Comes before the intake.
#pragma once

#include <span>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/model/health_report.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/sources/intake.h"

namespace gpuward::remediator {

class OlderAlerts final : public Intake {
 public:
  // All must outlive it. `reports` is null without a Prometheus: nothing is then known about the
  // machine.
  OlderAlerts(Intake& intake, ClusterView& view, HealthReports* reports,
              const CurrentPolicy& policy, Clock& clock)
      : intake_(intake), view_(view), reports_(reports), policy_(policy), clock_(clock) {}

  // Spends at most half of the time until `deadline` on reports.
  [[nodiscard]] Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                          Clock::Steady deadline) override;

 private:
  [[nodiscard]] bool is_unexplained(const AlertSignal& signal) const;
  [[nodiscard]] bool is_measured(const AlertSignal& signal) const;

  Intake& intake_;
  ClusterView& view_;
  HealthReports* reports_;
  const CurrentPolicy& policy_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
