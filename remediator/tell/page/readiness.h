// Checks whether the remediator could work now: it has the cluster's objects, and the API server
// answers. Used by /readyz. A separate thread queries the API server, so that a page never waits
// for it.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/cluster_view.h"

namespace gpuward::remediator {

class Readiness {
 public:
  // The arguments must outlive this object. `api` needs a short deadline.
  Readiness(kube::Api& api, const ClusterView& view, Clock& clock,
            std::chrono::milliseconds every = std::chrono::seconds(3));
  // Returns why the process is not ready; nullopt if it is ready. Thread-safe.
  [[nodiscard]] std::optional<std::string> objection() const;
  void request_stop() { thread_.request_stop(); }

 private:
  kube::Api& api_;
  const ClusterView& view_;
  Clock& clock_;
  std::chrono::milliseconds every_;
  std::atomic<bool> answers_{false};
  std::jthread thread_;
};

}  // namespace gpuward::remediator
