// Decides when to start, query and give up a GPU worker. Pure: the caller passes the time and
// events, and gets the task. WorkerSource carries it out.
#pragma once

#include <optional>

#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "exporter/gpu/report/source.h"

namespace gpuward::exporter {

class WorkerDuty {
 public:
  enum class Task : std::uint8_t { kWait, kStart, kAsk, kGiveUp };

  // Opening the library wakes sleeping GPUs without the persistence daemon: seconds for each. A
  // worker that has not responded yet may take this many times the time-out.
  static constexpr int kFirstReadingFactor = 3;

  // `restart`: the waits before a broken worker is restarted.
  explicit WorkerDuty(BackoffPolicy restart, std::uint64_t seed = 0);

  [[nodiscard]] Task due(Clock::Steady now, const GpuTimes& times) const;
  // When due() can next return something other than kWait, if nothing happens before.
  [[nodiscard]] Clock::Steady next_look(const GpuTimes& times) const;

  void started(Clock::Steady now);
  void asked(Clock::Steady now);
  void answered();
  // It is about to close the library, which may wait for the event thread (kLongestClosing).
  void closing() { is_closing_ = true; }
  // It has ended, or the exporter has given it up.
  void ended(Clock::Steady now);
  // The same, but not because of a fault: the next worker may start at once, and later pauses do
  // not grow.
  void replaced(Clock::Steady now);
  // Requests a reading as soon as the worker is free; never starts it earlier.
  void hurry() { is_hurried_ = true; }

  [[nodiscard]] bool is_running() const { return started_at_.has_value(); }
  [[nodiscard]] bool is_asked() const { return asked_at_.has_value(); }
  // The time limit of the current reading.
  [[nodiscard]] std::chrono::milliseconds limit(const GpuTimes& times) const;

 private:
  BackoffPolicy restart_;
  Backoff backoff_;
  Clock::Steady next_start_ = Clock::Steady::min();
  std::optional<Clock::Steady> started_at_;
  std::optional<Clock::Steady> asked_at_;
  std::optional<Clock::Steady> last_asked_at_;  // of this worker
  bool has_answered_ = false;                   // this worker
  bool is_hurried_ = false;
  bool is_closing_ = false;  // in the current reading
};

}  // namespace gpuward::exporter
