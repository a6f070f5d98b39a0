// Checks alerts that have fired since before their Node was registered. Such an alert may be about
// another machine with the same name, because Prometheus keeps an alert for a while
// (keep_firing_for). If the exporter reports the same severity for this machine, the alert still
// applies. Used between the sources and the intake.
#pragma once

#include <span>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/model/health_report.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class OlderAlerts final : public Intake {
 public:
  // The arguments must outlive this object. `reports` is null without a Prometheus; there are then
  // no facts about the machine.
  OlderAlerts(Intake& intake, ClusterView& view, HealthReports* reports,
              const CurrentPolicy& policy, Clock& clock)
      : intake_(intake), view_(view), reports_(reports), policy_(policy), clock_(clock) {}

  // Passes the signals on. Spends at most half of the time until `deadline` on reports.
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
