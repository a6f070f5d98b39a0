// Runs the rules on GPU readings for the watcher: remembers what one reading does not tell (how
// fast counters grow, what came and went a moment ago) and gives the result of check
// "gpu".
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "exporter/checks/rules/counter_trend.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

class GpuEvaluator {
 public:
  // One thread: the watcher's, after each reading and each change of the worker's state.
  [[nodiscard]] CheckResult evaluate(const Snapshot& snapshot, const CheckSettings& settings,
                                     const std::optional<InstanceProfile>& profile,
                                     const NodeFacts& facts, WallTime now);

 private:
  void sample(const GpuReport& report, WallTime now);
  void hold(CheckOutcome& outcome, WallTime now);

  CounterTrend replays_{std::chrono::minutes(10), std::chrono::minutes(1)};
  std::map<std::string, double> replays_per_minute_;  // by bus id
  // Monitor findings that come and go with the load stay for a while, so that the node's labels do
  // not flicker: by code and bus id, when they were last seen.
  std::map<std::pair<std::string, std::string>, WallTime> held_;
};

}  // namespace gpuward::exporter
