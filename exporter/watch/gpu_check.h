// Evaluates each reading of the GPUs, with the host itself as the second source, and gives the
// result of check "gpu". Called by the GpuWatcher on its thread.
#pragma once

#include "core/runtime/clock.h"
#include "exporter/checks/rules/gpu_evaluator.h"
#include "exporter/checks/rules/node_facts.h"
#include "exporter/config/settings.h"
#include "exporter/host/host_paths.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class GpuCheck {
 public:
  // All references must outlive it.
  GpuCheck(HostPaths host, const CurrentPolicy& policy, Clock& clock)
      : host_(std::move(host)), policy_(policy), clock_(clock) {}

  // One thread.
  [[nodiscard]] CheckResult run(const Snapshot& snapshot);

 private:
  HostPaths host_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  NodeFactsReader facts_;
  GpuEvaluator evaluator_;
};

}  // namespace gpuward::exporter
