// The name of the cluster that the remediator acts on, if several clusters share a Prometheus or an
// Alertmanager: the label `cluster` of alerts and series (Prometheus' external_labels, or a
// relabelling). Pure; read by read_policy(), used by inbox/sources/.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

inline const std::string kClusterLabel = "cluster";

// Reads the key `cluster`; empty if it is absent. Faults are reported to the file.
[[nodiscard]] std::string read_cluster_name(const YamlMap& root);

// Returns whether an alert or series with these labels is about this cluster. If an alert names a
// cluster, the policy must name its own; if the policy names a cluster, an alert must too.
// Otherwise returns kInvalid with the reason, because node names repeat from cluster to cluster.
[[nodiscard]] Result<bool> is_of_cluster(const std::map<std::string, std::string>& labels,
                                         std::string_view cluster);

// Returns a matcher to append to a PromQL selector: `,cluster=~"|NAME"`; empty if `cluster` is
// empty. A series without the label belongs to this cluster, because Prometheus adds external
// labels to sent data and not to stored data.
[[nodiscard]] std::string cluster_matcher(std::string_view cluster);
// Returns the matcher for series that name another cluster: `,cluster!~"|NAME"`; empty if `cluster`
// is empty.
[[nodiscard]] std::string other_clusters_matcher(std::string_view cluster);

}  // namespace gpuward::remediator
