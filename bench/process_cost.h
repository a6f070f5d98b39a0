// The cost of a process so far, from /proc. Used by driver_bench and fleet_bench.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>

namespace gpuward::bench {

// User and system time of all its threads since its start; zero once it has ended.
[[nodiscard]] std::chrono::nanoseconds cpu_time_of(pid_t pid);
[[nodiscard]] double resident_mb(pid_t pid);       // 10^6 bytes
[[nodiscard]] double peak_resident_mb(pid_t pid);  // the most so far
// The first child of any of its threads.
[[nodiscard]] std::optional<pid_t> child_of(pid_t pid);

}  // namespace gpuward::bench
