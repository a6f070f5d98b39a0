#include "core/runtime/work_queue.h"

#include <algorithm>
#include <utility>

namespace gpuward {

WorkQueue::WorkQueue(Clock& clock, std::size_t capacity) : clock_(clock), capacity_(capacity) {}

bool WorkQueue::add(const std::string& key) { return add_at(key, clock_.steady()); }

bool WorkQueue::add_after(const std::string& key, std::chrono::milliseconds delay) {
  return add_at(key, clock_.steady() + delay);
}

bool WorkQueue::add_at(const std::string& key, Clock::Steady due) {
  const std::lock_guard lock(mutex_);
  const auto waiting = due_.find(key);
  if (waiting == due_.end() && due_.size() >= capacity_) return false;
  if (waiting == due_.end()) {
    due_.emplace(key, due);
    order_.emplace(due, key);
  } else if (due < waiting->second) {
    order_.erase({waiting->second, key});
    order_.emplace(due, key);
    waiting->second = due;
  }
  wake_waiters();
  return true;
}

std::optional<std::string> WorkQueue::take_due(Clock::Steady now, Clock::Steady& look_again) {
  const auto next =
      std::ranges::find_if(order_, [&](const Due& due) { return !held_.contains(due.second); });
  look_again = next == order_.end() ? Clock::Steady::max() : next->first;
  if (look_again > now) return std::nullopt;
  std::string key = next->second;
  order_.erase(next);
  due_.erase(key);
  held_.insert(key);
  return key;
}

std::optional<std::string> WorkQueue::take(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    Clock::Steady look_again;
    if (auto key = take_due(clock_.steady(), look_again)) return key;
    std::stop_source woken = waiters_.emplace_back();
    lock.unlock();
    {
      const std::stop_callback on_stop(stop, [&woken] { woken.request_stop(); });
      static_cast<void>(clock_.sleep_until(look_again, woken.get_token()));
    }
    lock.lock();
    std::erase(waiters_, woken);
  }
  return std::nullopt;
}

void WorkQueue::done(const std::string& key) {
  const std::lock_guard lock(mutex_);
  held_.erase(key);
  if (due_.contains(key)) wake_waiters();
}

std::size_t WorkQueue::size() const {
  const std::lock_guard lock(mutex_);
  return due_.size();
}

void WorkQueue::wake_waiters() {
  for (const std::stop_source& waiter : waiters_) waiter.request_stop();
}

}  // namespace gpuward
