// What something costs in processor time: the same on a busy machine as on an idle one. Used by
// tests of work that must stay cheap.
#pragma once

#include <chrono>
#include <ctime>

namespace gpuward::support {

// What `work` takes of the processor, on the calling thread.
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
