// The main thread requests a release of the GPUs, and the watcher's thread carries it out. The gate
// opens only while no worker runs and none can start. Used by WorkerSource.
#pragma once

#include <mutex>

namespace gpuward::exporter {

class ReleaseGate {
 public:
  // Thread-safe. Returns whether the request is new.
  bool ask(bool is_wanted) {
    const std::lock_guard lock(mutex_);
    const bool is_new = is_wanted_ != is_wanted;
    is_wanted_ = is_wanted;
    return is_new;
  }
  // Thread-safe.
  [[nodiscard]] bool is_asked() const {
    const std::lock_guard lock(mutex_);
    return is_wanted_;
  }
  // Thread-safe. No GPU is held, and none will be before the release has ended.
  [[nodiscard]] bool is_done() const {
    const std::lock_guard lock(mutex_);
    return is_wanted_ && holds_none_;
  }
  // The watcher's thread. Returns whether it must release the GPUs; false: it may hold one from now
  // on.
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
