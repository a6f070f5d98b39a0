// All nodes that gpuward keeps off, whatever the reason: the exclusions of operators, the label of
// the node, the policy. Used by status, `exclusions list` and explain.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/commands/command_flags.h"
#include "remediator/guards/exclusions.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// The policy of the chart's ConfigMap in the namespace of the remediator.
[[nodiscard]] Result<Policy> read_cluster_policy(kube::Api& api, const std::string& ns);

// By name. What rests on the label or the policy has no end and is by nobody.
using Excluded = std::vector<std::pair<std::string, Exclusion>>;

// Those in force: of `list`, of the label, and of the policy where the node has GPUs.
[[nodiscard]] Excluded excluded_now(const ExclusionList& list, std::span<const kube::Node> nodes,
                                    const Policy& policy, WallTime now);

struct ExcludedReading {
  Excluded excluded;
  std::vector<std::string> unknown = {};  // what could not be read, and why
};

// As the cluster says it. Reads few nodes of a large cluster: those that the label or the policy
// names, without those of the control plane.
[[nodiscard]] ExcludedReading read_excluded(const CommandFlags& flags, kube::Api& api,
                                            Clock& clock);

}  // namespace gpuward::remediator
