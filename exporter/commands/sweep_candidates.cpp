#include "exporter/commands/sweep_candidates.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/kube/gpu_pods.h"
#include "core/kube/node_names.h"
#include "core/kube/objects.h"
#include "exporter/publish/node/claim.h"
#include "exporter/publish/node/diagnosis.h"
#include "exporter/watch/asking_label.h"

namespace gpuward::exporter {
namespace {

// The taint of gpuward-remediator, which has the node then.
constexpr std::string_view kRemediationTaintKey = "gpuward.dev/remediation";

}  // namespace

std::optional<std::string> objection_to_sweep(const kube::Node& node, kube::WallTime now) {
  if (node.meta.deleting) return "it is being deleted";
  if (node.unschedulable) return "it is cordoned";
  if (!is_ready(node)) return "it is not ready";
  for (const kube::Taint& taint : node.taints) {
    if (is_node_key(taint.key, NodeName::kUnhealthy)) return "it has the unhealthy taint";
    if (taint.key == kRemediationTaintKey) return "gpuward-remediator is handling it";
  }
  if (const auto label = label_asking_for_gpus(node.meta.labels))
    return "a label asks for its GPUs: " + *label;
  if (auto who = maintenance_of(node)) return who;
  const auto claim = claim_on(node, NodeName::kMaintenanceClaim);
  if (claim && claim->expires > now) return "another sweep has claimed it";
  return std::nullopt;
}

bool has_gpus(const kube::Pod& pod) { return !kube::has_ended(pod) && kube::uses_gpus(pod); }

void sort_by_last_sweep(std::vector<kube::Node>& nodes, kube::WallTime now) {
  std::ranges::sort(nodes, {}, [now](const kube::Node& node) {
    return std::pair(last_sweep(node, now), std::string_view(node.meta.name));
  });
}

}  // namespace gpuward::exporter
