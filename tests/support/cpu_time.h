// Measures processor time. A busy machine does not add its waits to it, though it makes caches
// cold. Used by tests of work that must stay cheap.
#pragma once

#include <chrono>
#include <ctime>

namespace gpuward::support {

// The processor time that `work` uses on the calling thread.
template <typename Work>
[[nodiscard]] std::chrono::nanoseconds cpu_time_of(const Work& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const auto start = now();
  work();
  return now() - start;
}

}  // namespace gpuward::support
