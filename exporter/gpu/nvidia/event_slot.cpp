#include "exporter/gpu/nvidia/event_slot.h"

#include <algorithm>
#include <utility>

namespace gpuward::exporter::nvml {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kLook{200};

}  // namespace

void EventSlot::keep(const std::shared_ptr<const Session>& session,
                     const std::vector<AskableDevice>& devices, const Progress& progress) {
  std::shared_ptr<XidEvents> events;
  {
    const std::lock_guard lock(mutex_);
    if (!has_failed_) events = events_;
  }
  const bool is_new = events == nullptr;
  if (is_new) {
    progress("creating the event set");
    events = XidEvents::make(session);
    if (!events) return;
  }
  events->watch(devices, progress);
  if (!is_new) return;
  {
    const std::lock_guard lock(mutex_);
    std::swap(events_, events);
    has_failed_ = false;
  }
  changed_.notify_all();
}

void EventSlot::empty(const Progress& progress) {
  std::shared_ptr<XidEvents> events;
  std::unique_lock lock(mutex_);
  events = std::move(events_);
  const auto is_out = [this] { return !is_waiting_; };
  bool is_told = !progress;
  while (!changed_.wait_for(lock, kLook, is_out)) {
    if (is_told || !has_overstayed()) continue;
    is_told = true;
    progress("waiting for the event call to return before closing the library");
  }
}

std::shared_ptr<XidEvents> EventSlot::enter(Clock::Steady deadline) {
  std::unique_lock lock(mutex_);
  const auto usable = [this] { return events_ != nullptr && !has_failed_; };
  if (!changed_.wait_for(lock, deadline - clock_.steady(), usable)) return nullptr;
  is_waiting_ = true;
  entered_at_ = clock_.steady();
  return events_;
}

void EventSlot::leave(bool has_failed) {
  {
    const std::lock_guard lock(mutex_);
    is_waiting_ = false;
    if (has_failed) has_failed_ = true;
  }
  changed_.notify_all();
}

bool EventSlot::has_overstayed() const {
  return is_waiting_ && clock_.steady() - entered_at_ > kSlice + kPatience;
}

bool EventSlot::is_stuck() const {
  const std::lock_guard lock(mutex_);
  return has_overstayed();
}

std::vector<GpuXid> EventSlot::wait(milliseconds limit) {
  const auto deadline = clock_.steady() + limit;
  while (true) {
    std::shared_ptr<XidEvents> events = enter(deadline);
    if (!events) return {};
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - clock_.steady());
    auto answer = events->wait(std::clamp(left, milliseconds(0), kSlice), clock_);
    events.reset();  // before leave(), after which the library may be closed
    leave(answer.has_failed);
    if (!answer.xids.empty() || clock_.steady() >= deadline) return std::move(answer.xids);
  }
}

}  // namespace gpuward::exporter::nvml
