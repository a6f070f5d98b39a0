// All nodes that gpuward does not touch, for any reason: the exclusions of operators, the label of
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
#include "remediator/cluster/exclusions.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Reads the policy of the chart's ConfigMap in the remediator's namespace.
[[nodiscard]] Result<Policy> read_cluster_policy(kube::Api& api, const std::string& ns);

// By name. An exclusion by label or policy has no end and no author.
using Excluded = std::vector<std::pair<std::string, Exclusion>>;

// Returns the exclusions in force: of `list`, of the label, and of the policy if the node has GPUs.
[[nodiscard]] Excluded excluded_now(const ExclusionList& list, std::span<const kube::Node> nodes,
                                    const Policy& policy, WallTime now);

struct ExcludedReading {
  Excluded excluded;
  std::vector<std::string> unknown = {};  // what could not be read and why
};

// Reads the exclusions from the cluster, and only the nodes that the label or the policy selects,
// except those of the control plane.
[[nodiscard]] ExcludedReading read_excluded(const std::string& ns, kube::Api& api, Clock& clock);

}  // namespace gpuward::remediator
