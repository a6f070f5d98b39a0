// Keys of work to do. Each key goes to one worker at a time, even if it was added several times
// (the contract of client-go's workqueue). Drives the remediator's reconcile loop.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"

namespace gpuward {

class WorkQueue {
 public:
  // `clock` must outlive the queue.
  WorkQueue(Clock& clock, std::size_t capacity);

  // Thread-safe. Returns false if the queue is full; the key is then dropped. A key that waits
  // already keeps the earlier of its times. A key that a worker holds is handed out again after
  // done().
  [[nodiscard]] bool add(const std::string& key);
  [[nodiscard]] bool add_after(const std::string& key, std::chrono::milliseconds delay);
  // Blocks a worker until a key is due, the earliest first; nullopt after a stop.
  [[nodiscard]] std::optional<std::string> take(std::stop_token stop);
  // The worker that took `key` has finished it.
  void done(const std::string& key);
  [[nodiscard]] std::size_t size() const;  // waiting, delayed ones included

 private:
  using Due = std::pair<Clock::Steady, std::string>;

  bool add_at(const std::string& key, Clock::Steady due);
  // Returns the key that is due at `now`, or the time to check again.
  std::optional<std::string> take_due(Clock::Steady now, Clock::Steady& look_again);
  void wake_waiters();

  Clock& clock_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::map<std::string, Clock::Steady> due_;
  std::set<Due> order_;  // the same, earliest first
  std::set<std::string> held_;
  std::vector<std::stop_source> waiters_;  // of workers asleep on the clock; a stop wakes one
};

}  // namespace gpuward
