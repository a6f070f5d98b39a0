#include "remediator/model/gpu_vendor.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

namespace gpuward::remediator {
namespace {

// The vendors seen at one level of evidence.
struct Seen {
  std::set<Vendor> vendors;
  bool has_other = false;  // Intel
};

bool begins(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }
bool has(std::string_view text, std::string_view part) { return text.contains(part); }

// Network cards of both vendors have resources as well (nvidia.com/hostdev, amd.com/nic): only
// GPUs, their shares and their partitions count. AMD's plugin names mixed partitions by their kind:
// amd.com/cpx_nps4.
void add_resource(std::string_view name, Seen& seen) {
  if (begins(name, "nvidia.com/gpu") || begins(name, "nvidia.com/mig-"))
    seen.vendors.insert(Vendor::kNvidia);
  if (begins(name, "amd.com/gpu") || (begins(name, "amd.com/") && has(name, "_nps")))
    seen.vendors.insert(Vendor::kAmd);
  seen.has_other |= begins(name, "gpu.intel.com/");
}

void add_operator_label(std::string_view key, Seen& seen) {
  if (begins(key, "nvidia.com/gpu.")) seen.vendors.insert(Vendor::kNvidia);
  if (begins(key, "amd.com/gpu.") || begins(key, "beta.amd.com/gpu.") ||
      key == "feature.node.kubernetes.io/amd-gpu")
    seen.vendors.insert(Vendor::kAmd);
  seen.has_other |= begins(key, "gpu.intel.com/") || key == "intel.feature.node.kubernetes.io/gpu";
}

// "pci-10de.present", "pci-0302_10de.present", ...
void add_pci_label(std::string_view key, Seen& seen) {
  if (!begins(key, "feature.node.kubernetes.io/pci-")) return;
  if (has(key, "-10de") || has(key, "_10de")) seen.vendors.insert(Vendor::kNvidia);
  if (has(key, "-1002") || has(key, "_1002")) seen.vendors.insert(Vendor::kAmd);
}

template <typename Add>
Seen seen_in_labels(const kube::Node& node, const Add& add) {
  Seen seen;
  for (const auto& [key, value] : node.meta.labels) {
    if (value != "false") add(key, seen);
  }
  return seen;
}

}  // namespace

Result<Vendor> gpu_vendor(const kube::Node& node) {
  Seen by_resource;
  for (const std::string& resource : node.resources) add_resource(resource, by_resource);
  const std::array<Seen, 3> levels = {by_resource, seen_in_labels(node, add_operator_label),
                                      seen_in_labels(node, add_pci_label)};
  for (const Seen& seen : levels) {
    if (seen.vendors.size() == 1 && !seen.has_other) return *seen.vendors.begin();
    if (seen.vendors.size() + (seen.has_other ? 1U : 0U) > 1)
      return fail(ErrorKind::kInvalid, "its resources or labels name GPUs of more than one vendor");
    if (seen.has_other)
      return fail(ErrorKind::kInvalid, "its GPUs are from neither NVIDIA nor AMD");
  }
  return fail(ErrorKind::kNotFound,
              "no resource or label of the node names the GPU vendor (nvidia.com/gpu, amd.com/gpu, "
              "nvidia.com/gpu.present=true, feature.node.kubernetes.io/amd-gpu=true)");
}

std::optional<Vendor> vendor_of_tools(std::string_view text) {
  const bool is_nvidia = has(text, "nvidia-smi");
  const bool is_amd = has(text, "amd-smi") || has(text, "rocm-smi") || has(text, "amdgpu");
  if (is_nvidia == is_amd) return std::nullopt;
  return is_nvidia ? Vendor::kNvidia : Vendor::kAmd;
}

}  // namespace gpuward::remediator
