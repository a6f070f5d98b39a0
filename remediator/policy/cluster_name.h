// The name of the cluster that the remediator acts on, if several clusters share a Prometheus or an
// Alertmanager: the label `cluster` of alerts and series (Prometheus' external_labels, or a
// relabelling). Pure; read by read_policy(), used by sources/.
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

// Whether an alert or series with these labels is about this cluster. If an alert names a cluster,
// the policy must name its own; if the policy names a cluster, an alert must too, because node
// names repeat from cluster to cluster. Otherwise kInvalid with the reason.
[[nodiscard]] Result<bool> is_of_cluster(const std::map<std::string, std::string>& labels,
                                         std::string_view cluster);

// For a PromQL selector, after its other matchers: `,cluster=~"|NAME"`. A series without the label
// belongs to this cluster, because gpuward queries the cluster's own Prometheus (external labels
// are added to sent data, not to stored data). Empty if `cluster` is empty.
[[nodiscard]] std::string cluster_matcher(std::string_view cluster);
// Series that name another cluster: `,cluster!~"|NAME"`. Empty if `cluster` is empty.
[[nodiscard]] std::string other_clusters_matcher(std::string_view cluster);

}  // namespace gpuward::remediator
