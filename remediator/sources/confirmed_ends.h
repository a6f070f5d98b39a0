// Where there is an Alertmanager to ask, the end of an alert is taken in only where that knows of
// it: anybody who reaches the webhook could say that an alert has ended. What is not confirmed is
// ignored; the poll ends it once Alertmanager has it no more. Stands between the webhook and the
// intake.
#pragma once

#include <span>

#include "remediator/guards/active_alerts.h"
#include "remediator/sources/intake.h"

namespace gpuward::remediator {

class ConfirmedEnds final : public Intake {
 public:
  // All must outlive it. `observer` hears of what is ignored; null: nobody does.
  ConfirmedEnds(Intake& intake, ActiveAlerts& alerts, IntakeObserver* observer)
      : intake_(intake), alerts_(alerts), observer_(observer) {}

  [[nodiscard]] Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                          Clock::Steady deadline) override;

 private:
  Intake& intake_;
  ActiveAlerts& alerts_;
  IntakeObserver* observer_;
};

}  // namespace gpuward::remediator
