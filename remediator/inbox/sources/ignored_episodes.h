// Remembers which ignored alerts were logged already, so that an alert that repeats is logged once.
// Bounded; the memory is lost with the process. Thread-safe. Used by the log of the intake.
#pragma once

#include <cstddef>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

#include "remediator/inbox/sources/intake.h"

namespace gpuward::remediator {

class IgnoredEpisodes {
 public:
  static constexpr std::size_t kMost = 10'000;

  // Returns whether this alert with this start was never ignored for this reason before.
  [[nodiscard]] bool is_new(const AlertSignal& signal, Ignored reason);

 private:
  std::mutex mutex_;
  std::set<std::tuple<std::string, std::string, WallTime, Ignored>> known_;
};

}  // namespace gpuward::remediator
