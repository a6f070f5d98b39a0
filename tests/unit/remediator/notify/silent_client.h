// An http::Client whose server accepts every request and never answers. Used by the tests of sinks
// that are removed while they are busy.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string_view>

#include "core/http/client/client.h"

namespace gpuward::remediator {

class SilentClient final : public http::Client {
 public:
  // The caller cannot stop this request.
  Result<http::ClientResponse> send(const http::ClientRequest& /*request*/) override {
    return wait({});
  }
  Result<http::ClientResponse> stream(
      const http::ClientRequest& /*request*/, std::chrono::milliseconds /*idle*/,
      std::stop_token stop, const std::function<bool(std::string_view)>& /*on_bytes*/) override {
    return wait(stop);
  }

  // The number of requests without an answer so far.
  [[nodiscard]] int waiting() const {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }
  // The number of requests that the caller stopped.
  [[nodiscard]] int stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }
  // Breaks these connections off, and all later ones.
  void release() {
    {
      const std::lock_guard lock(mutex_);
      is_released_ = true;
    }
    changed_.notify_all();
  }

 private:
  // The longest wait of a sink, so that a test that fails ends.
  static constexpr std::chrono::seconds kLongestWait{60};

  Result<http::ClientResponse> wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    (void)changed_.wait_for(lock, stop, kLongestWait, [this] { return is_released_; });
    --waiting_;
    if (stop.stop_requested()) ++stopped_;
    if (stop.stop_requested()) return fail(ErrorKind::kCancelled, "stopped");
    return fail(ErrorKind::kUnavailable, "no answer");
  }

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  int waiting_ = 0;
  int stopped_ = 0;
  bool is_released_ = false;
};

}  // namespace gpuward::remediator
