// Simulates how a policy would have handled past alerts, and when its budgets would have stopped
// it: the real decisions on a simulated cluster (replayer.h). Pure; one thread.
//
// A history does not contain everything, so the replay assumes the rest: the exporter's report
// agrees with the alerts; steps succeed after a usual time; a reset or restart heals (a fault that
// keeps firing in the history was treated too late there); there is no other repairer, and no
// operator silences, pauses or cancels.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "remediator/cli/replay/history.h"
#include "remediator/cli/replay/replayer.h"

namespace gpuward::remediator {

struct ReplayResult {
  std::vector<ReplayEvent> events;  // Sorted by time.
  WallTime from, to;
  std::size_t nodes = 0, alerts = 0;
  // Alerts without a remediation label that match no foreign_alerts.
  std::size_t not_for_us = 0;
  std::size_t without_node = 0;   // Alerts about nodes that are no longer in the cluster.
  std::size_t made_up_nodes = 0;  // Nodes that only their alerts name.
};

// `nodes` may be empty: the nodes are then those that the alerts name, and limits in percent are
// relative to them.
[[nodiscard]] ReplayResult replay(std::shared_ptr<const Policy> policy,
                                  std::vector<kube::Node> nodes,
                                  const std::vector<AlertEpisode>& history,
                                  const ReplayOptions& options);

// How many nodes had each step, what made them wait and for how long, and how many were out of
// service at once.
struct ReplaySummary {
  struct Wait {
    std::size_t nodes = 0;
    std::chrono::milliseconds longest{0};
  };
  std::map<Step, std::size_t> nodes_by_step;
  std::map<std::string, Wait> waits;        // by rule: "budget.cluster", "guard.approval", ...
  std::map<std::string, std::size_t> ends;  // by phase: "Released", "Replaced", ...
  std::size_t remediated = 0;               // Nodes with an alert for gpuward.
  std::size_t still_open = 0;               // Nodes with an open Remediation at the end.
  std::size_t most_out = 0;                 // Largest number of nodes out of service at once.
  WallTime most_out_at{};
};
[[nodiscard]] ReplaySummary summary_of(const ReplayResult& result);

}  // namespace gpuward::remediator
