// Pods that do not go as others do when they are evicted: their end waits for a finalizer, their
// kubelet never ends them, they are of a DaemonSet, or an admission webhook refuses. Drawn for each
// pod's name, with chance of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/json.h"
#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {

struct Stage;

// In some simulations with pods; with chance of their own, so that the others stay as they are.
void let_pods_stay(Setting& setting, Chance& chance);

class PodEnds {
 public:
  explicit PodEnds(Stage& stage) : stage_(stage) {}

  // Draws how each of them ends.
  void draw(const std::vector<std::string>& names);
  [[nodiscard]] Json dressed(const std::string& name, Json pod) const;
  // One that has started.
  void note_start(const std::string& name);
  // Its finalizers are taken off.
  void let_go(const std::string& name);
  // Somebody takes the finalizers off one pod, perhaps.
  void go_on();

 private:
  Stage& stage_;
};

// An admission webhook answers for the API server.
[[nodiscard]] std::optional<http::ClientResponse> refused_by_webhook(
    const Stage& stage, const http::ClientRequest& request);
// How a sabotage bends the pods that a replica lists.
void bend_pod_ends(const Stage& stage, Json& list);

}  // namespace gpuward::remediator::simulation
