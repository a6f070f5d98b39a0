// Runs the rules on GPU readings for the watcher and gives the result of check "gpu". It keeps what
// a single reading does not have: how fast counters grow, and which findings came and went a moment
// ago.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "exporter/checks/rules/counter_trend.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

class GpuEvaluator {
 public:
  // Called on the watcher's thread only, after each reading and each change of the worker's state.
  [[nodiscard]] CheckResult evaluate(const Snapshot& snapshot, const CheckSettings& settings,
                                     const std::optional<InstanceProfile>& profile,
                                     const NodeFacts& facts, WallTime now);

 private:
  void sample(const GpuReport& report, WallTime now);
  void hold(CheckOutcome& outcome, WallTime now);

  CounterTrend replays_{std::chrono::minutes(10), std::chrono::minutes(1)};
  std::map<std::string, double> replays_per_minute_;  // by bus id
  // When monitor findings that come and go with the load were last seen, by code and bus id. They
  // stay for a while, so that the node's labels do not flicker.
  std::map<std::pair<std::string, std::string>, WallTime> held_;
};

}  // namespace gpuward::exporter
