// Reads the section `pools` of a policy; docs/configuration.md has its keys. Used by
// read_policy().
#pragma once

#include <optional>
#include <vector>

#include "core/runtime/yaml.h"
#include "remediator/policy/default_plans.h"
#include "remediator/policy/pool_policy.h"

namespace gpuward::remediator {

// What holds for all nodes of which a pool says nothing.
struct PoolDefaults {
  const YamlMap& severities;
  const DrainSettings& drain;
  const Means& means;
  std::optional<Mode> highest;  // where the file says it; --mode may say another
};

// In the order of the file. Faults are reported to it.
[[nodiscard]] std::vector<PoolPolicy> read_pools(const YamlMap& root, const PoolDefaults& defaults);

}  // namespace gpuward::remediator
