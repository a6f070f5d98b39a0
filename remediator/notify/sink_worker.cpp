#include "remediator/notify/sink_worker.h"

#include <algorithm>
#include <utility>

#include "core/runtime/backoff.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostWaiting = 10'000;
// Ends that are remembered until the reconciler has recorded them; a forgotten event is sent again.
constexpr std::size_t kMostRemembered = 20'000;
constexpr BackoffPolicy kTryAgain{.first = std::chrono::milliseconds(500),
                                  .longest = std::chrono::milliseconds(60'000)};

double burst_of(const SinkSettings& settings) {
  return static_cast<double>(std::clamp<std::int64_t>(settings.per_minute / 6, 1, 100));
}

}  // namespace

SinkWorker::SinkWorker(SinkSettings settings, std::unique_ptr<Sink> sink, Clock& clock, Log& log,
                       std::function<void(const NotificationEvent& event)> on_ended)
    : settings_(std::move(settings)),
      sink_(std::move(sink)),
      clock_(clock),
      log_(log),
      on_ended_(std::move(on_ended)),
      rate_(static_cast<double>(settings_.per_minute) / 60, burst_of(settings_), clock.steady()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

bool SinkWorker::has_ended(const NotificationEvent& event) {
  const std::lock_guard lock(mutex_);
  if (ended_.contains(event.id)) return true;
  if (known_.contains(event.id)) return false;
  if (waiting_.size() >= kMostWaiting) {
    note_end(event.id, Delivery::kOverflow);
    return true;
  }
  known_.insert(event.id);
  waiting_.push_back(event);
  wake_.notify_one();
  return false;
}

SinkTally SinkWorker::tally() const {
  const std::lock_guard lock(mutex_);
  SinkTally tally{.sink = settings_.name, .ended = counts_, .waiting = waiting_.size()};
  for (const Delivery delivery :
       {Delivery::kSent, Delivery::kRefused, Delivery::kGaveUp, Delivery::kOverflow}) {
    tally.ended.try_emplace(delivery, 0);
  }
  return tally;
}

void SinkWorker::run(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
    const NotificationEvent event = waiting_.front();
    lock.unlock();
    const auto delivery = deliver(event, stop);
    if (!delivery) return;
    end(event, *delivery);
  }
}

std::optional<Delivery> SinkWorker::deliver(const NotificationEvent& event,
                                            const std::stop_token& stop) {
  Backoff backoff(kTryAgain);
  const auto last_try = clock_.steady() + settings_.give_up_after;
  while (wait_for_turn(stop)) {
    const auto delivered = sink_->deliver(event, stop);
    if (delivered) return Delivery::kSent;
    if (stop.stop_requested()) return std::nullopt;
    say_trouble(delivered.error());
    if (delivered.error().kind == ErrorKind::kInvalid) return Delivery::kRefused;
    const auto wait = std::max(backoff.next(), delivered.error().retry_after);
    if (clock_.steady() + wait > last_try) return Delivery::kGaveUp;
    if (!clock_.sleep_for(wait, stop)) return std::nullopt;
  }
  return std::nullopt;
}

bool SinkWorker::wait_for_turn(const std::stop_token& stop) {
  const auto due = rate_.ready_at(clock_.steady());
  if (due > clock_.steady() && !clock_.sleep_until(due, stop)) return false;
  rate_.take(clock_.steady());
  return !stop.stop_requested();
}

void SinkWorker::say_trouble(const Error& error) {
  if (std::exchange(is_in_trouble_, true)) return;
  log_.warn("Notifications are not delivered",
            {{"sink", settings_.name}, {"error", error.message}});
}

void SinkWorker::end(const NotificationEvent& event, Delivery delivery) {
  const bool recovers = delivery == Delivery::kSent && std::exchange(is_in_trouble_, false);
  if (recovers) log_.info("Notifications are delivered again", {{"sink", settings_.name}});
  {
    const std::lock_guard lock(mutex_);
    waiting_.pop_front();
    note_end(event.id, delivery);
  }
  on_ended_(event);
}

void SinkWorker::note_end(const std::string& id, Delivery delivery) {
  ++counts_[delivery];
  known_.erase(id);
  if (ended_.insert(id).second) oldest_.push_back(id);
  if (oldest_.size() <= kMostRemembered) return;
  ended_.erase(oldest_.front());
  oldest_.pop_front();
}

}  // namespace gpuward::remediator
