// Hands the event set from the worker's main thread, which makes and drops it, to its event thread,
// which waits on it; sees to it that nobody waits on a library that is being closed. Used by
// NvmlLibrary.
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

  // Main thread. Makes the set where there is none or where waiting on it has failed, and watches
  // `devices`.
  void keep(const std::shared_ptr<const Session>& session,
            const std::vector<AskableDevice>& devices, const Progress& progress);
  // Main thread. Frees the set, once the event thread is out of it: after at most kSlice. Where the
  // driver hangs it says so and waits on, because a library in use cannot be closed: whoever has
  // started this process ends it then.
  void empty(const Progress& progress);

  // Event thread. At most `limit`; also where there is no set, or a broken one, it waits.
  [[nodiscard]] std::vector<GpuXid> wait(std::chrono::milliseconds limit);

  // Any thread. Whether the driver keeps the event thread far longer than requested.
  [[nodiscard]] bool is_stuck() const;

  // How long one call into the driver may wait: no longer than a reopening should be held up.
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
  Clock::Steady entered_at_;  // since when
};

}  // namespace gpuward::exporter::nvml
