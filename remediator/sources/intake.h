// Where sources hand over their alert signals. A chain of three is behind it, put together in
// config/evidence_sources.cpp: ConfirmedEnds (sources/; the webhook's signals alone go through it),
// OlderAlerts (intake/), and RemediationIntake (intake/), which writes them to the API server.
// Tests put a list behind it.
#pragma once

#include <cstddef>
#include <span>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/model/evidence.h"

namespace gpuward::remediator {

struct IntakeCounts {
  std::size_t accepted = 0;   // new, and durable now
  std::size_t duplicate = 0;  // known already: nothing was written
  std::size_t ignored = 0;    // see Ignored

  IntakeCounts& operator+=(const IntakeCounts& more) {
    accepted += more.accepted;
    duplicate += more.duplicate;
    ignored += more.ignored;
    return *this;
  }
};

// Hears of the alerts that were ignored, for logs and metrics.
class IntakeObserver {
 public:
  virtual ~IntakeObserver() = default;
  // Any thread, several at once; must be quick. Called for each copy that was ignored.
  virtual void on_ignored(const AlertSignal& signal, Ignored reason) = 0;
};

class Intake {
 public:
  virtual ~Intake() = default;
  // Any thread; several at once. A value means that all of `signals` is in the API server. An error
  // (kUnavailable, kOverloaded, kTimeout) means that some may not be: the sender must come again.
  [[nodiscard]] virtual Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                                  Clock::Steady deadline) = 0;
};

}  // namespace gpuward::remediator
