// A promise about time, on a machine that does other things too: the quickest of several tries
// keeps it, which none would where the program itself is too slow.
#pragma once

#include <algorithm>
#include <chrono>

namespace gpuward::support {

// The shortest time that `measure` returns; not asked again once it is below `limit`.
template <typename Measure>
[[nodiscard]] std::chrono::nanoseconds quickest_of(int tries, std::chrono::nanoseconds limit,
                                                   const Measure& measure) {
  auto quickest = std::chrono::nanoseconds::max();
  for (int i = 0; i < tries && quickest >= limit; ++i)
    quickest = std::min<std::chrono::nanoseconds>(quickest, measure());
  return quickest;
}

}  // namespace gpuward::support
