// Whether the GPUs are to be let go of, and whether that has happened: asked for by the main
// thread, done by the watcher's. What the gate says is never older than the start of the next
// worker. Used by WorkerSource.
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
  // The watcher's thread. false: from now on it may hold a GPU.
  [[nodiscard]] bool is_wanted() {
    const std::lock_guard lock(mutex_);
    if (!is_wanted_) holds_none_ = false;
    return is_wanted_;
  }
  // The watcher's thread, after is_wanted() has said so.
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
