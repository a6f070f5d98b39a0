// Accepts the end of an alert from the webhook only if Alertmanager confirms it, because a sender
// of notifications could claim the end of any alert. An end that is not confirmed in time is
// ignored. The poll ends the alert once Alertmanager no longer has it. Used between the webhook and
// the intake with --alertmanager.url.
#pragma once

#include <span>

#include "remediator/inbox/sources/active_alerts.h"
#include "remediator/inbox/sources/intake.h"

namespace gpuward::remediator {

class ConfirmedEnds final : public Intake {
 public:
  // The arguments must outlive this object. `observer` gets the ignored ends and may be null.
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
