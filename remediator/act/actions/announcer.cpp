#include "remediator/act/actions/announcer.h"

#include <utility>

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMaxWaiting = 1000;

}  // namespace

EventAnnouncer::EventAnnouncer(kube::Api& api)
    : api_(api), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void EventAnnouncer::announce(kube::NodeEvent event) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) {
      ++lost_;
      return;
    }
    waiting_.push_back(std::move(event));
  }
  wake_.notify_one();
}

Status EventAnnouncer::deliver(const kube::NodeEvent& event) {
  auto said = api_.create_event(event);
  if (!said) ++lost_;
  return said;
}

void EventAnnouncer::run(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!wake_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
    const kube::NodeEvent event = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    if (!api_.create_event(event)) ++lost_;
  }
}

}  // namespace gpuward::remediator
