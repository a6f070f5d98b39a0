#include "remediator/guards/other_repairers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/runtime/yaml_scalars.h"

namespace gpuward::remediator {
namespace {

struct Sign {
  std::string_view key, who;
};

// Taints that say that the node is to go. Karpenter's and the Cluster Autoscaler's names are from
// their sources (pkg/apis/v1/taints.go; utils/taints/taints.go).
constexpr std::array<Sign, 3> kTaints{{
    {"karpenter.sh/disrupted", "Karpenter is replacing the node"},
    {"ToBeDeletedByClusterAutoscaler", "the Cluster Autoscaler is removing the node"},
    {"DeletionCandidateOfClusterAutoscaler", "the Cluster Autoscaler may remove the node"},
}};

// Annotations whose presence says that somebody has the node in hand.
constexpr std::array<Sign, 2> kAnnotations{{
    {"cluster.x-k8s.io/remediate-machine", "Cluster API is remediating the machine"},
    {"quarantineHealthEvent", "NVSentinel has quarantined the node"},
}};

// Labels that have one value at rest, and perhaps one while their owner has yet to begin.
struct Labelled {
  std::string_view key, at_rest, not_begun, who;
};
constexpr std::array<Labelled, 3> kLabels{{
    {"nvidia.com/gpu-driver-upgrade-state", "upgrade-done", "upgrade-required",
     "the GPU operator is upgrading the driver"},
    {"nvidia.com/mig.config.state", "success", "", "the MIG manager is reconfiguring the GPUs"},
    {"sagemaker.amazonaws.com/node-health-status", "Schedulable", "",
     "HyperPod is repairing the node"},
}};

std::string said_by(std::string_view who, std::string_view what, std::string_view key) {
  return std::string(who) + " (" + std::string(what) + " " + std::string(key) + ")";
}

std::optional<std::string> labelled(const kube::Node& node) {
  for (const Labelled& label : kLabels) {
    const auto found = node.meta.labels.find(std::string(label.key));
    if (found == node.meta.labels.end() || found->second.empty()) continue;
    const std::string& value = found->second;
    if (value == label.at_rest || value == label.not_begun) continue;
    // The work on a reconfiguration that has failed is over.
    if (value.ends_with("failed")) continue;
    return said_by(label.who, "label", label.key);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> repairer_at_work(const kube::Node& node) {
  for (const Sign& sign : kTaints) {
    const auto has_key = [&](const kube::Taint& taint) { return taint.key == sign.key; };
    if (std::ranges::any_of(node.taints, has_key)) return said_by(sign.who, "taint", sign.key);
  }
  for (const Sign& sign : kAnnotations) {
    if (node.meta.annotations.contains(std::string(sign.key)))
      return said_by(sign.who, "annotation", sign.key);
  }
  return labelled(node);
}

std::optional<std::string> other_repairer(const kube::Node& node, WallTime now,
                                          std::chrono::milliseconds startup_grace) {
  if (auto who = repairer_at_work(node)) return who;
  if (node.meta.created && now - *node.meta.created < startup_grace) {
    return "the node is younger than " + to_duration_text(startup_grace);
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
