// With --alertmanager.url, the webhook accepts the end of an alert only if Alertmanager confirms
// it: a sender of notifications could claim the end of any alert. An end that is not confirmed in
// time is ignored, and the poll ends the alert once Alertmanager no longer has it. Between the
// webhook and the intake.
#pragma once

#include <span>

#include "remediator/guards/active_alerts.h"
#include "remediator/sources/intake.h"

namespace gpuward::remediator {

class ConfirmedEnds final : public Intake {
 public:
  // All must outlive it. `observer` gets the ignored ends; may be null.
  ConfirmedEnds(Intake& intake, ActiveAlerts& alerts, Clock& clock, IntakeObserver* observer)
      : intake_(intake), alerts_(alerts), clock_(clock), observer_(observer) {}

  [[nodiscard]] Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                          Clock::Steady deadline) override;

 private:
  Intake& intake_;
  ActiveAlerts& alerts_;
  Clock& clock_;
  IntakeObserver* observer_;
};

}  // namespace gpuward::remediator
