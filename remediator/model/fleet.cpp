#include "remediator/model/fleet.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "core/kube/node_names.h"
#include "core/kube/objects.h"
#include "remediator/model/node_mark.h"

namespace gpuward::remediator {
namespace {

// Prefixes of the labels of GPU nodes: NVIDIA's and AMD's operators and feature discovery
// (gpu-feature-discovery, k8s-device-plugin, node-feature-discovery by PCI vendor).
constexpr std::array<std::string_view, 5> kGpuLabels{
    "nvidia.com/gpu.", "amd.com/gpu.", "feature.node.kubernetes.io/pci-10de",
    "feature.node.kubernetes.io/pci-0302_10de", "feature.node.kubernetes.io/pci-1002"};
constexpr std::array<std::string_view, 3> kGpuResources{"nvidia.com/", "amd.com/gpu",
                                                        "gpu.intel.com/"};

template <std::size_t kCount>
bool begins_with_one(std::string_view text, const std::array<std::string_view, kCount>& all) {
  return std::ranges::any_of(all, [&](std::string_view one) { return text.starts_with(one); });
}

// The prefix gpuward.dev/ is not enough: an operator's gpuward.dev/managed is on nodes of all
// kinds.
bool is_label_of_exporter(std::string_view key) {
  return std::ranges::any_of(kNodeNames, [&](const NodeNameEntry& entry) {
    return entry.kind == NodeNameKind::kLabel && is_node_key(key, entry.name);
  });
}

}  // namespace

bool is_gpu_node(const kube::Node& node) {
  const auto is_label = [](const auto& label) {
    return is_label_of_exporter(label.first) ||
           (begins_with_one(label.first, kGpuLabels) && label.second != "false");
  };
  return std::ranges::any_of(node.meta.labels, is_label) || !gpu_resources(node).empty();
}

std::vector<std::string> gpu_resources(const kube::Node& node) {
  std::vector<std::string> gpus;
  std::ranges::copy_if(node.resources, std::back_inserter(gpus), [](const std::string& resource) {
    return begins_with_one(resource, kGpuResources);
  });
  std::ranges::sort(gpus);
  return gpus;
}

const FleetNode* Fleet::find(std::string_view uid) const {
  const auto found = nodes.find(uid);
  return found == nodes.end() ? nullptr : &found->second;
}

FleetNode fleet_node(const kube::Node& node, const PlaceKeys& keys) {
  FleetNode made;
  made.name = node.meta.name;
  made.place = place_of(node.meta.labels, keys);
  made.ready = is_ready(node);
  made.schedulable = !node.unschedulable;
  made.tainted = our_taint_on(node).has_value();
  return made;
}

}  // namespace gpuward::remediator
