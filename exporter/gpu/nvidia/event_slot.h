// Passes the event set from the worker's main thread, which creates and frees it, to its event
// thread, which waits on it. Ensures that no thread waits on a library that is being closed. Used
// by NvmlLibrary.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "exporter/gpu/nvidia/xid_events.h"

namespace gpuward::exporter::nvml {

class EventSlot {
 public:
  explicit EventSlot(const Clock& clock) : clock_(clock) {}

  // Main thread. Creates the set if there is none or if waiting on it has failed, and watches
  // `devices`.
  void keep(const std::shared_ptr<const Session>& session,
            const std::vector<AskableDevice>& devices, const Progress& progress);
  // Main thread. Frees the set as soon as the event thread has left it: after at most kSlice. If
  // the driver hangs, it reports that and keeps waiting, because a library in use cannot be closed:
  // the parent process then kills this one.
  void empty(const Progress& progress);

  // Event thread. Waits at most `limit`, even if there is no set or a broken one.
  [[nodiscard]] std::vector<GpuXid> wait(std::chrono::milliseconds limit);

  // Thread-safe. Whether the driver keeps the event thread far longer than requested.
  [[nodiscard]] bool is_stuck() const;

  // The longest wait in one call into the driver, and so the longest delay of a reopening.
  static constexpr std::chrono::milliseconds kSlice{5'000};
  static constexpr std::chrono::milliseconds kPatience{5'000};

 private:
  [[nodiscard]] bool has_overstayed() const;  // with the lock held
  [[nodiscard]] std::shared_ptr<XidEvents> enter(Clock::Steady deadline);
  void leave(bool has_failed);

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<XidEvents> events_;
  bool has_failed_ = false;
  bool is_waiting_ = false;   // the event thread is in the driver
  Clock::Steady entered_at_;  // when it entered the driver
};

}  // namespace gpuward::exporter::nvml
