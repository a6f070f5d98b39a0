// The receiver of all sources' alert signals. Behind it is a chain of three, put together in
// config/evidence_sources.cpp: ConfirmedEnds (sources/; only for the webhook's signals),
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

// Receives the ignored alerts, for logs and metrics.
class IntakeObserver {
 public:
  virtual ~IntakeObserver() = default;
  // Called on any thread, several at once, for each ignored copy; must be quick.
  virtual void on_ignored(const AlertSignal& signal, Ignored reason) = 0;
};

class Intake {
 public:
  virtual ~Intake() = default;
  // Any thread; several at once. A value means that all of `signals` is in the API server. An error
  // (kUnavailable, kOverloaded, kTimeout) means that some may not be: the sender must retry.
  [[nodiscard]] virtual Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                                  Clock::Steady deadline) = 0;
};

}  // namespace gpuward::remediator
