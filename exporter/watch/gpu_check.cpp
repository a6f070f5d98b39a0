#include "exporter/watch/gpu_check.h"

namespace gpuward::exporter {

CheckResult GpuCheck::run(const Snapshot& snapshot) {
  const auto policy = policy_.get();
  const CheckSettings& settings = policy->settings.checks;
  const WallTime now = clock_.wall();
  const NodeFacts facts = facts_.read(host_, snapshot, now);
  const auto profile = settings.profiles.find(snapshot.instance.type);
  return evaluator_.evaluate(snapshot, settings, profile, facts, now);
}

}  // namespace gpuward::exporter
