// What a policy would have done about the alerts of the past, and when its budgets would have
// stopped it: the real decisions on a made-up cluster (replayer.h). Pure; one thread.
//
// What nobody can know is assumed: the exporter's report says what the alerts say; steps succeed
// after a usual time; a reset or restart heals (a fault that fires on in the history was treated
// too late there); no other repairer is at work, nobody silences, pauses or cancels.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "remediator/replay/history.h"
#include "remediator/replay/replayer.h"

namespace gpuward::remediator {

struct ReplayResult {
  std::vector<ReplayEvent> events;  // in the order of time
  WallTime from, to;
  std::size_t nodes = 0, alerts = 0;
  std::size_t not_for_us = 0;     // alerts that neither name a remediation nor match foreign_alerts
  std::size_t without_node = 0;   // about nodes that are not in the cluster (any more)
  std::size_t made_up_nodes = 0;  // known by their alerts alone
};

// `nodes` may be empty: then those are taken that the alerts name, and whatever is limited by
// percent is limited by percent of them.
[[nodiscard]] ReplayResult replay(std::shared_ptr<const Policy> policy,
                                  std::vector<kube::Node> nodes,
                                  const std::vector<AlertEpisode>& history,
                                  const ReplayOptions& options);

// How many nodes saw each step, what kept them waiting and for how long, and how many were out of
// service at once.
struct ReplaySummary {
  struct Wait {
    std::size_t nodes = 0;
    std::chrono::milliseconds longest{0};
  };
  std::map<Step, std::size_t> nodes_by_step;
  std::map<std::string, Wait> waits;        // by rule: "budget.cluster", "guard.approval", ...
  std::map<std::string, std::size_t> ends;  // by phase: "Released", "Replaced", ...
  std::size_t remediated = 0;               // nodes with an alert that was for us
  std::size_t still_open = 0;               // nodes, at the end
  std::size_t most_out = 0;                 // nodes out of service at once
  WallTime most_out_at{};
};
[[nodiscard]] ReplaySummary summary_of(const ReplayResult& result);

}  // namespace gpuward::remediator
