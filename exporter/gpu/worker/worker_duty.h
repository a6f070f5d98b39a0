// When a GPU worker is to be started, asked, and given up. Pure: time comes in, and what happened;
// what is to be done comes out. Carried out by WorkerSource.
#pragma once

#include <optional>

#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "exporter/gpu/report/source.h"

namespace gpuward::exporter {

class WorkerDuty {
 public:
  enum class Task : std::uint8_t { kWait, kStart, kAsk, kGiveUp };

  // Opening the library wakes GPUs that sleep without the persistence daemon: seconds for each of
  // them. A worker that has not answered yet may take so many times the time-out.
  static constexpr int kFirstReadingFactor = 3;

  // `restart`: how long to wait before a broken worker is started again.
  explicit WorkerDuty(BackoffPolicy restart, std::uint64_t seed = 0);

  [[nodiscard]] Task due(Clock::Steady now, const GpuTimes& times) const;
  // When due() can next say something else than kWait, if nothing happens before.
  [[nodiscard]] Clock::Steady next_look(const GpuTimes& times) const;

  void started(Clock::Steady now);
  void asked(Clock::Steady now);
  void answered();
  // It is about to close the library, which may wait for the event thread (kLongestClosing).
  void closing() { is_closing_ = true; }
  // It is gone, or has been given up.
  void ended(Clock::Steady now);
  // The same for no fault of how it was started: the next one may start at once, and the pauses
  // before later ones grow no longer for it.
  void replaced(Clock::Steady now);
  // A reading as soon as the worker is free; never an earlier start.
  void hurry() { is_hurried_ = true; }

  [[nodiscard]] bool is_running() const { return started_at_.has_value(); }
  [[nodiscard]] bool is_asked() const { return asked_at_.has_value(); }
  // Of the reading under way.
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
  bool is_closing_ = false;  // in the reading under way
};

}  // namespace gpuward::exporter
