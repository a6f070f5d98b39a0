// Pods that do not end as others do when they are evicted: a finalizer delays their end, their
// kubelet never ends them, they belong to a DaemonSet, or an admission webhook refuses the
// eviction. Drawn for each pod's name, with its own chance.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/json.h"
#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {

struct Stage;

// Applies to some simulations with pods; has its own chance, so that the others stay as they are.
void let_pods_stay(Setting& setting, Chance& chance);

class PodEnds {
 public:
  explicit PodEnds(Stage& stage) : stage_(stage) {}

  // Draws how each of them ends.
  void draw(const std::vector<std::string>& names);
  [[nodiscard]] Json dressed(const std::string& name, Json pod) const;
  // The pod has started.
  void note_start(const std::string& name);
  // The finalizers of the pod are removed.
  void let_go(const std::string& name);
  // Perhaps an operator removes the finalizers of one pod.
  void go_on();

 private:
  Stage& stage_;
};

// An admission webhook refuses the request; nullopt if it does not.
[[nodiscard]] std::optional<http::ClientResponse> refused_by_webhook(
    const Stage& stage, const http::ClientRequest& request);
// How a sabotage bends the pods that a replica lists.
void bend_pod_ends(const Stage& stage, Json& list);

}  // namespace gpuward::remediator::simulation
