#include "core/kube/gpu_pods.h"

#include <algorithm>
#include <string>

namespace gpuward::kube {
namespace {

bool is_gpu_resource(const std::string& name) {
  return name.starts_with("nvidia.com/") || name.starts_with("amd.com/") ||
         name.starts_with("gpu.intel.com/");
}

// Also matches "kata-qemu-nvidia-gpu".
bool is_gpu_runtime(const std::string& runtime_class) {
  return runtime_class.contains("nvidia") || runtime_class == "amd";
}

}  // namespace

bool is_of_daemon_set(const Pod& pod) {
  return std::ranges::any_of(pod.owners, [](const OwnerReference& owner) {
    return owner.controller && owner.kind == "DaemonSet" && owner.api_version == "apps/v1";
  });
}

bool uses_gpus(const Pod& pod) {
  return pod.has_resource_claims || std::ranges::any_of(pod.resources, is_gpu_resource) ||
         (is_gpu_runtime(pod.runtime_class) && !is_of_daemon_set(pod));
}

}  // namespace gpuward::kube
