// The name of the cluster that the remediator acts on, where several clusters share a Prometheus or
// an Alertmanager: the label `cluster` of alerts and series (Prometheus' external_labels, or a
// relabelling). Pure; read by read_policy(), used by sources/.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

inline const std::string kClusterLabel = "cluster";

// The key `cluster`; empty where it is absent. Faults are reported to the file.
[[nodiscard]] std::string read_cluster_name(const YamlMap& root);

// Whether what has these labels is about this cluster. An alert that names a cluster is nobody's
// until the policy names its own, and with a name in the policy an alert must carry one: node names
// repeat from cluster to cluster. kInvalid with the reason where the labels and the policy leave it
// open.
[[nodiscard]] Result<bool> is_of_cluster(const std::map<std::string, std::string>& labels,
                                         std::string_view cluster);

// For a selector of PromQL, behind its other matchers: `,cluster=~"|NAME"`. A series without the
// label is this cluster's, because the Prometheus that is asked is its own (external labels are
// added to what is sent, not to what is stored). Empty where `cluster` is.
[[nodiscard]] std::string cluster_matcher(std::string_view cluster);
// Series that name another cluster: `,cluster!~"|NAME"`. Empty where `cluster` is.
[[nodiscard]] std::string other_clusters_matcher(std::string_view cluster);

}  // namespace gpuward::remediator
