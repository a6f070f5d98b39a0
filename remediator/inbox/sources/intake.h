// The receiver of all sources' alert signals. config/evidence_sources.cpp builds a chain of three:
// ConfirmedEnds (inbox/sources/; only for the webhook's signals), OlderAlerts (inbox/), and
// RemediationIntake (inbox/), which writes the signals to the API server. Tests implement it with
// a list.
#pragma once

#include <cstddef>
#include <span>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/model/evidence.h"

namespace gpuward::remediator {

struct IntakeCounts {
  std::size_t accepted = 0;   // New signals that are now in the API server.
  std::size_t duplicate = 0;  // Known signals; no write was needed.
  std::size_t ignored = 0;    // Ignored signals; see Ignored.

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
  // Reports an ignored copy. Called on any thread, several at once; must be quick.
  virtual void on_ignored(const AlertSignal& signal, Ignored reason) = 0;
};

class Intake {
 public:
  virtual ~Intake() = default;
  // Stores all `signals`. Any thread may call it, several at once. A value means that all of them
  // are in the API server. After an error (kUnavailable, kOverloaded, kTimeout) some may be
  // missing, and the sender must retry.
  [[nodiscard]] virtual Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                                  Clock::Steady deadline) = 0;
};

}  // namespace gpuward::remediator
