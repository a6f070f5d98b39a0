// How fast driver counters grow: samples over a window, by name. Lifetime values say nothing (a
// board that had errors a year ago may be healthy today). Pure; one owner, one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/model/finding.h"

namespace gpuward::exporter {

class CounterTrend {
 public:
  // Rates come from samples of the last `window` that are at least `least` apart.
  CounterTrend(std::chrono::seconds window, std::chrono::seconds least)
      : window_(window), least_(least) {}

  struct Growth {
    std::uint64_t by = 0;
    double per_second = 0;
  };
  // Adds a sample and returns the growth since the oldest sample of the window. nullopt if no
  // sample is old enough to compare with: at first, and after the counter fell (the driver was
  // reloaded, the GPU reset) or the clock went backwards.
  std::optional<Growth> add(const std::string& name, std::uint64_t value, WallTime now);
  // Drops the counters that had no sample in the window.
  void forget_before(WallTime now);

 private:
  struct Sample {
    WallTime time;
    std::uint64_t value = 0;
  };
  std::chrono::seconds window_, least_;
  std::map<std::string, std::deque<Sample>> samples_;
};

}  // namespace gpuward::exporter
