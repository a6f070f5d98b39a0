// Watches a fleet: counts the nodes that are tainted and cordoned, and plays the kubelets, which
// delete an ending pod from the API at once. Used by fleet_bench.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bench/fleet_cluster.h"
#include "core/kube/connection.h"
#include "core/kube/informer.h"

namespace gpuward::bench {

using SteadyTime = std::chrono::steady_clock::time_point;

// A watch of one collection as the admin, on its own thread.
class Watch {
 public:
  // Returns once the first list is complete.
  Watch(const FleetCluster& cluster, std::string collection, kube::InformerHandlers handlers);

 private:
  SystemClock clock_;
  std::unique_ptr<kube::Connection> connection_;
  std::unique_ptr<kube::Api> api_;
  std::jthread thread_;
};

// The nodes that have a taint with that key and are cordoned.
class MarkedNodes {
 public:
  MarkedNodes(const FleetCluster& cluster, std::string taint_key);
  // When the last of `count` nodes was seen; throws after five minutes.
  [[nodiscard]] SteadyTime wait_for(std::size_t count);

 private:
  void look_at(const Json& object);

  const std::string taint_key_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> names_;
  std::unique_ptr<Watch> watch_;
};

class Kubelets {
 public:
  explicit Kubelets(const FleetCluster& cluster);
  ~Kubelets();
  Kubelets(const Kubelets&) = delete;
  Kubelets& operator=(const Kubelets&) = delete;

  struct Span {
    SteadyTime first_told, last_gone;
  };
  // The time from the first deletion of a pod to the end of the last of `gone` pods; restarts the
  // count. Throws after ten minutes.
  [[nodiscard]] Span wait_for(std::size_t gone);

 private:
  void look_at(const Json& object);
  void end_pods(const std::stop_token& stop);

  const FleetCluster& cluster_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> ending_;
  std::set<std::string> told_;
  std::size_t gone_ = 0;
  std::optional<SteadyTime> first_told_;
  SteadyTime last_gone_;
  std::unique_ptr<Watch> watch_;
  std::vector<std::jthread> threads_;
};

}  // namespace gpuward::bench
