// `gpuward-exporter sweep`: runs a longer diagnostic on idle GPU nodes, a few at a time, and writes
// the result to each node. A CronJob starts it, and it ends by itself.
//
// While it has a node, the node carries the maintenance taint and, in the same PATCH, a claim with
// its expiry time. A sweep that is killed leaves at most this claim: the node's own agent and the
// next sweep remove taint and claim once it has expired.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/commands/progress.h"
#include "exporter/commands/sweep_job.h"

namespace gpuward::exporter {

struct SweepOptions {
  std::string selector = "nvidia.com/gpu.present=true";
  std::size_t max_nodes = 10;  // MAX_NODES_PER_SWEEP
  SweepJobOptions job;
  std::string owner;  // unique to this sweep: the pod's name and the time
  std::chrono::milliseconds poll_interval = std::chrono::seconds(5);
  bool writes_labels = true;  // ENABLE_LABEL
  bool writes_taint = true;   // ENABLE_TAINT
  // Called on the thread of run() when the progress has changed. Null: not called.
  std::function<void(const SweepCount&)> on_progress = nullptr;
};

// The limit for all Jobs of a sweep together, from their start.
[[nodiscard]] std::chrono::milliseconds sweep_limit(const SweepOptions& options);

struct SweepSummary {
  std::vector<std::string> passed, failed, skipped, untold;  // nodes
  std::size_t left_alone = 0;                                // busy, cordoned, unhealthy, ...
};

class Sweep {
 public:
  // `api` must not end with the stop, because nodes are released after one. All must outlive it.
  Sweep(SweepOptions options, kube::Api& api, Clock& clock, Log& log);

  // Blocks until all Jobs have ended, at most about JOB_TIMEOUT and two minutes; after a stop
  // releases its nodes and returns. A Job ends within seconds if a label of its node asks for the
  // GPUs (asking_label.h): the node is skipped. An error if the nodes could not be listed.
  [[nodiscard]] Result<SweepSummary> run(const std::stop_token& stop);

 private:
  struct Run {
    kube::ObjectMeta node;
    std::string job;
    Clock::Steady deadline;
    std::optional<SweepResult> verdict;  // known, but maybe not written yet
    bool is_over = false;
  };

  [[nodiscard]] Result<std::vector<kube::Node>> list_candidates();
  void release_expired(const std::vector<kube::Node>& nodes);
  [[nodiscard]] Result<bool> is_idle(const std::string& node);
  // Returns false if the node was left alone after all.
  [[nodiscard]] Result<bool> start_on(const kube::Node& node);
  [[nodiscard]] Result<bool> claim(const kube::Node& node);
  [[nodiscard]] Status start_job(const kube::Node& node);
  void tell(std::size_t left_to_start);
  void follow(const std::stop_token& stop);
  void look_at(Run& run);
  [[nodiscard]] std::optional<SweepResult> verdict_of(const Run& run);
  void finish(Run& run);
  // Ends a run without a result: deletes the Job, releases the node and adds it to `those`.
  void give_up(Run& run, const std::string& why, std::vector<std::string>& those);
  [[nodiscard]] Status release(const kube::ObjectMeta& node);
  [[nodiscard]] kube::NodeChange change_for(const kube::Node& seen, const SweepResult& verdict);

  const SweepOptions options_;
  kube::Api& api_;
  Clock& clock_;
  Log& log_;
  std::vector<Run> runs_;
  SweepSummary report_;
  std::optional<SweepCount> told_;
};

}  // namespace gpuward::exporter
