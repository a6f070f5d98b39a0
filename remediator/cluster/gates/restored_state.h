// Records that the cluster's state was restored from a backup while this process ran. The memory of
// the process then describes another state, so it changes nothing until it has restarted.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "core/model/finding.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::remediator {

// Thread-safe.
class RestoredState {
 public:
  struct Notice {
    std::string why;
    WallTime at;
  };

  // Records the restore; only the first call counts.
  void note(std::string why, WallTime now) {
    const std::lock_guard lock(mutex_);
    if (!notice_) notice_ = Notice{std::move(why), now};
  }
  [[nodiscard]] std::optional<Notice> notice() const {
    const std::lock_guard lock(mutex_);
    return notice_;
  }
  // Returns kCancelled after the first note().
  [[nodiscard]] Status permit() const {
    const auto notice = this->notice();
    if (!notice) return {};
    return fail(ErrorKind::kCancelled,
                notice->why + ": etcd was restored from a backup; this replica restarts");
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Notice> notice_;
};

}  // namespace gpuward::remediator
