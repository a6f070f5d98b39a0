// Handles the events of the two informers: updates the ClusterView, and puts the affected nodes
// into the queue. Used by the controller.
#pragma once

#include <functional>
#include <string>

#include "core/kube/informer.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/work_queue.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The arguments must outlive the handlers.
struct ViewFeed {
  ClusterView& view;
  WorkQueue& queue;
  CurrentPolicy& policy;
  Log& log;
  Clock& clock;
  std::function<void(const std::string& why)> on_went_back;  // kube::InformerHandlers
  std::function<void(const Error&)> on_error;
};

[[nodiscard]] kube::InformerHandlers node_handlers(const ViewFeed& feed);
[[nodiscard]] kube::InformerHandlers remediation_handlers(const ViewFeed& feed);

}  // namespace gpuward::remediator
