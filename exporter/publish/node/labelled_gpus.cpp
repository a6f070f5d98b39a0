#include "exporter/publish/node/labelled_gpus.h"

#include <string_view>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

constexpr unsigned kMostGpus = 1024;  // of one node; more must be a mistake

unsigned count_from(std::string_view text) {
  const auto count = parse_integer<unsigned>(text);
  return count && *count <= kMostGpus ? *count : 0;
}

std::string_view label(const kube::Labels& labels, const char* key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

unsigned nvidia_gpus(const kube::Labels& labels) {
  const bool counts_mig_devices = label(labels, "nvidia.com/gpu.product").contains("-MIG-");
  return counts_mig_devices ? 1 : count_from(label(labels, "nvidia.com/gpu.count"));
}

unsigned amd_gpus(const kube::Labels& labels) {
  constexpr std::string_view kDeviceId = "beta.amd.com/gpu.device-id.";
  unsigned sum = 0;
  for (const auto& [key, value] : labels) {
    if (key.starts_with(kDeviceId)) sum += count_from(value);
  }
  return sum;
}

}  // namespace

GpuCounts gpus_by_labels(const kube::Labels& labels) {
  GpuCounts counts{{Vendor::kNvidia, nvidia_gpus(labels)}, {Vendor::kAmd, amd_gpus(labels)}};
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  return counts;
}

}  // namespace gpuward::exporter
