#include <algorithm>

#include "core/metrics/process.h"
#include "exporter/pods/users.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::Family;
using metrics::Type;

// A GPU that is cut up for many pods must not become many series.
constexpr std::size_t kMostPodsOfAGpu = 8;

}  // namespace

void append_pod_families(const Snapshot& snapshot, Families& families) {
  families.push_back(metrics::gauge("gpuward_pod_resources_up",
                                    "Whether the kubelet says which pods use which GPUs.",
                                    to_number(snapshot.workloads.is_known)));
  const GpuLabels gpus(snapshot);
  Family info{"gpuward_gpu_pod_info",
              "The containers that a GPU, or a part of it, is allocated to; eight of a GPU at "
              "most.",
              Type::kGauge,
              {}};
  for (const Gpu& gpu : snapshot.gpus) {
    const std::vector<Workload> users = users_of(gpu, snapshot);
    for (std::size_t i = 0; i < std::min(users.size(), kMostPodsOfAGpu); ++i) {
      Labels labels = gpus.of(gpu.pci.bus_id());
      labels.emplace_back("namespace", users[i].ns);
      labels.emplace_back("pod", users[i].pod);
      labels.emplace_back("container", users[i].container);
      info.samples.push_back({std::move(labels), 1});
    }
  }
  families.push_back(std::move(info));
}

}  // namespace gpuward::exporter
