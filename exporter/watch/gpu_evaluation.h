// Evaluates each reading of the GPUs, with what the host itself says as the second source, and
// keeps the result in the store as check "gpu". Called by the GpuWatcher on its thread.
#pragma once

#include "core/runtime/clock.h"
#include "exporter/checks/rules/gpu_evaluator.h"
#include "exporter/checks/rules/node_facts.h"
#include "exporter/config/settings.h"
#include "exporter/host/host_paths.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class GpuEvaluation {
 public:
  // All references must outlive it.
  GpuEvaluation(HostPaths host, Store& store, const CurrentPolicy& policy, Clock& clock)
      : host_(std::move(host)), store_(store), policy_(policy), clock_(clock) {}

  // One thread.
  void run(const Snapshot& snapshot);

 private:
  HostPaths host_;
  Store& store_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  NodeFactsReader facts_;
  GpuEvaluator evaluator_;
};

}  // namespace gpuward::exporter
