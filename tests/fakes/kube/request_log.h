// The requests to the fake, for assertions. Any thread; keeps the newest.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gpuward::fakes {

struct LoggedRequest {
  std::string method, path, query, content_type, user_agent, body;
  int status = 0;  // 0: no answer, the connection was cut
};

class RequestLog {
 public:
  void add(LoggedRequest request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
    if (requests_.size() > kKept) requests_.pop_front();
  }
  [[nodiscard]] std::vector<LoggedRequest> all() const {
    const std::lock_guard lock(mutex_);
    return {requests_.begin(), requests_.end()};
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    requests_.clear();
  }

 private:
  static constexpr std::size_t kKept = 20'000;
  mutable std::mutex mutex_;
  std::deque<LoggedRequest> requests_;
};

}  // namespace gpuward::fakes
