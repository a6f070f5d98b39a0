// Runs one sink: a bounded queue and a thread of its own, so that a dead or slow receiver delays
// only itself. Repeats with back-off, keeps to a rate, and gives up after a while. Undelivered
// events are counted, and logged once per streak. Used by the notifier.
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
#include "remediator/drain/token_bucket.h"
#include "remediator/notify/sink.h"

namespace gpuward::remediator {

// How a notification ended at a sink.
enum class Delivery : std::uint8_t {
  kSent,
  kRefused,  // the receiver will never accept it
  kGaveUp,   // retried for as long as the policy allows
  kOverflow  // too many events were waiting
};

struct SinkTally {
  std::string sink;
  std::map<Delivery, std::uint64_t> ended;
  std::size_t waiting = 0;
};

class SinkWorker {
 public:
  // `on_ended` is called on the worker's thread, without a lock, when an event has ended. Clock and
  // log must outlive this.
  SinkWorker(SinkSettings settings, std::unique_ptr<Sink> sink, Clock& clock, Log& log,
             std::function<void(const NotificationEvent& event)> on_ended);

  // Any thread; never blocks. Queues a new event; true once it has ended, successfully or not.
  [[nodiscard]] bool has_ended(const NotificationEvent& event);
  [[nodiscard]] const SinkSettings& settings() const { return settings_; }
  [[nodiscard]] SinkTally tally() const;
  void request_stop() { thread_.request_stop(); }

 private:
  void run(const std::stop_token& stop);
  // Nullopt: stopped.
  [[nodiscard]] std::optional<Delivery> deliver(const NotificationEvent& event,
                                                const std::stop_token& stop);
  [[nodiscard]] bool wait_for_turn(const std::stop_token& stop);
  void say_trouble(const Error& error);
  void end(const NotificationEvent& event, Delivery delivery);
  void note_end(const std::string& id, Delivery delivery);  // under the lock

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
  std::set<std::string> known_;     // ids that wait or have ended
  std::set<std::string> ended_;     // ids
  std::deque<std::string> oldest_;  // of ended_, to forget the oldest
  std::map<Delivery, std::uint64_t> counts_;
  std::jthread thread_;
};

}  // namespace gpuward::remediator
