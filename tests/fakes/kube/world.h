// All parts of the fake cluster, passed to the code that works on it. Writers hold `writing` while
// they read, decide and write.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "core/runtime/clock.h"
#include "tests/fakes/kube/resource.h"
#include "tests/fakes/kube/store.h"

namespace gpuward::fakes {

// Who ends a pod that is bound to a node and was deleted gracefully.
enum class PodEnd {
  kKubelet,  // the test, with grace 0, as a kubelet would
  kAtOnce,   // the server at once, for demos
};

struct World {
  World(Clock& time, std::size_t history_window) : clock(time), store(history_window) {}

  Clock& clock;
  Registry registry;
  Store store;
  std::mutex writing;
  std::atomic<std::uint64_t> uids = 0;
  PodEnd pod_end = PodEnd::kKubelet;

  [[nodiscard]] std::string now() const { return to_rfc3339(clock.wall()); }
  // In the form of a UUID; the same ones in each run.
  [[nodiscard]] std::string new_uid();
  // Five letters, as generateName appends.
  [[nodiscard]] std::string new_suffix();
};

}  // namespace gpuward::fakes
