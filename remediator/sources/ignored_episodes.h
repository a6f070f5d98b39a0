// Which ignored alerts were logged already: an alert repeats for as long as it fires, and one line
// is enough. Memory of this process only, bounded. Thread-safe.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "remediator/sources/intake.h"

namespace gpuward::remediator {

class IgnoredEpisodes {
 public:
  static constexpr std::size_t kMost = 10'000;

  // Whether this alert with that start was never ignored for that reason before.
  [[nodiscard]] bool is_new(const AlertSignal& signal, Ignored reason);

 private:
  std::mutex mutex_;
  std::set<std::tuple<std::string, std::string, WallTime, Ignored>> known_;
};

}  // namespace gpuward::remediator
