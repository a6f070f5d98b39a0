// The main thread asks for a release of the GPUs, and the watcher's thread carries it out. The gate
// opens only while no worker runs and none can start. Used by WorkerSource.
#pragma once

#include <mutex>

namespace gpuward::exporter {

class ReleaseGate {
 public:
  // Any thread. Whether that is new.
  bool ask(bool is_wanted) {
    const std::lock_guard lock(mutex_);
    const bool is_new = is_wanted_ != is_wanted;
    is_wanted_ = is_wanted;
    return is_new;
  }
  // Any thread.
  [[nodiscard]] bool is_asked() const {
    const std::lock_guard lock(mutex_);
    return is_wanted_;
  }
  // Any thread. Nothing is held, and nothing will be before the release has ended.
  [[nodiscard]] bool is_done() const {
    const std::lock_guard lock(mutex_);
    return is_wanted_ && holds_none_;
  }
  // The watcher's thread. Whether it must let go; false: from now on it may hold a GPU.
  [[nodiscard]] bool must_let_go() {
    const std::lock_guard lock(mutex_);
    if (!is_wanted_) holds_none_ = false;
    return is_wanted_;
  }
  // The watcher's thread, after must_let_go() has returned true.
  void note(bool holds_none) {
    const std::lock_guard lock(mutex_);
    holds_none_ = holds_none;
  }

 private:
  mutable std::mutex mutex_;
  bool is_wanted_ = false;
  bool holds_none_ = false;
};

}  // namespace gpuward::exporter
