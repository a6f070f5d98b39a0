// Whether the cluster's state has gone back to a backup while this process ran: then what it
// remembers is of another past, and nothing is changed until it has begun anew.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "core/model/finding.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::remediator {

// Any thread.
class RestoredState {
 public:
  struct Notice {
    std::string why;
    WallTime at;
  };

  // Somebody has seen it; the first word counts.
  void note(std::string why, WallTime now) {
    const std::lock_guard lock(mutex_);
    if (!notice_) notice_ = Notice{std::move(why), now};
  }
  [[nodiscard]] std::optional<Notice> notice() const {
    const std::lock_guard lock(mutex_);
    return notice_;
  }
  // kCancelled from then on.
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
