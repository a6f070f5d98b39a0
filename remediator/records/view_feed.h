// Handles the events of the two informers: they update the ClusterView, and the affected nodes go
// into the queue.
#pragma once

#include <functional>
#include <string>

#include "core/kube/informer.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/work_queue.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"

namespace gpuward::remediator {

// All must outlive the handlers.
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
