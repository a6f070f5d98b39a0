#include <algorithm>

#include "exporter/pods/users.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;

// A GPU that is shared by many pods must not create many series.
constexpr std::size_t kMostPodsOfAGpu = 8;

}  // namespace

void append_pod_families(const Snapshot& snapshot, Families& families) {
  declare(families,
          {"gpuward_pod_resources_up",
           "Whether the kubelet reports which pods use which GPUs. Always 0 outside Kubernetes."},
          snapshot.workloads.is_known);
  const GpuLabels gpus(snapshot);
  auto& info = declare(families, {"gpuward_gpu_pod_info",
                                  "1 for each container that the GPU, a MIG instance or a share of "
                                  "it is allocated to, as the kubelet reports (pod-resources, "
                                  "device plugins and DRA). At most eight containers per GPU.",
                                  kGauge,
                                  {"gpu", "uuid", "pci_bus_id", "namespace", "pod", "container"},
                                  "while the GPU is unused or its users are unknown"});
  for (const Gpu& gpu : snapshot.gpus) {
    const std::vector<Workload> users = users_of(gpu, snapshot);
    for (std::size_t i = 0; i < std::min(users.size(), kMostPodsOfAGpu); ++i) {
      info.add(gpus.of(gpu.pci.bus_id()), {users[i].ns, users[i].pod, users[i].container}, 1);
    }
  }
}

}  // namespace gpuward::exporter
