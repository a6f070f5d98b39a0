// Runs one sink with its own bounded queue and thread, so that a dead or slow receiver delays no
// other sink. It repeats with back-off, limits its rate, and gives up after a while. It counts
// undelivered events, and logs them once per series of failures. Used by the notifier.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/token_bucket.h"
#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// How the delivery of a notification ended.
enum class Delivery : std::uint8_t {
  kSent,
  kRefused,  // The receiver will never accept the event.
  kGaveUp,   // The worker retried for as long as the policy allows.
  kOverflow  // Too many events were waiting.
};

struct SinkTally {
  std::string sink;
  std::map<Delivery, std::uint64_t> ended;
  std::size_t waiting = 0;
};

class SinkWorker {
 public:
  // Calls `on_ended` on the worker's thread, without a lock, when the delivery of an event has
  // ended. Clock and log must outlive this object.
  SinkWorker(SinkSettings settings, std::unique_ptr<Sink> sink, Clock& clock, Log& log,
             std::function<void(const NotificationEvent& event)> on_ended);

  // Queues a new event. Any thread may call it; it never blocks. Returns true once the delivery has
  // ended, successfully or not.
  [[nodiscard]] bool has_ended(const NotificationEvent& event);
  [[nodiscard]] const SinkSettings& settings() const { return settings_; }
  [[nodiscard]] SinkTally tally() const;
  void request_stop() { thread_.request_stop(); }

 private:
  void run(const std::stop_token& stop);
  // Returns nullopt if the worker was stopped.
  [[nodiscard]] std::optional<Delivery> deliver(const NotificationEvent& event,
                                                const std::stop_token& stop);
  [[nodiscard]] bool wait_for_turn(const std::stop_token& stop);
  void say_trouble(const Error& error);
  void end(const NotificationEvent& event, Delivery delivery);
  void note_end(const std::string& id, Delivery delivery);  // Requires: mutex_ is held.

  const SinkSettings settings_;
  const std::unique_ptr<Sink> sink_;
  Clock& clock_;
  Log& log_;
  const std::function<void(const NotificationEvent& event)> on_ended_;
  TokenBucket rate_;            // used by the thread only
  bool is_in_trouble_ = false;  // used by the thread only
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<NotificationEvent> waiting_;
  std::set<std::string> known_;     // IDs of events that wait or have ended.
  std::set<std::string> ended_;     // IDs of ended events.
  std::deque<std::string> oldest_;  // IDs of ended_, oldest first, to forget the oldest.
  std::map<Delivery, std::uint64_t> counts_;
  std::jthread thread_;
};

}  // namespace gpuward::remediator
