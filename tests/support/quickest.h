// A promise about time, on a machine that does other things too: the quickest of several tries
// keeps it, which none would if the program itself were too slow.
#pragma once

#include <algorithm>
#include <chrono>

namespace gpuward::support {

// Enough tries for a machine with twice as many busy processes as cores.
inline constexpr int kTriesOfTheQuickest = 20;

// The shortest time that `measure` returns; not asked again once it is below `limit`.
template <typename Measure>
[[nodiscard]] std::chrono::nanoseconds quickest_of(std::chrono::nanoseconds limit,
                                                   const Measure& measure) {
  auto quickest = std::chrono::nanoseconds::max();
  for (int i = 0; i < kTriesOfTheQuickest && quickest >= limit; ++i)
    quickest = std::min<std::chrono::nanoseconds>(quickest, measure());
  return quickest;
}

}  // namespace gpuward::support
