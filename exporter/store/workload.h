// Which pods use which GPU, by the kubelet. Filled by the pod-resources watcher; used in findings,
// metrics, and checks that need idle GPUs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gpuward::exporter {

struct Workload {
  std::string ns, pod, container;
  auto operator<=>(const Workload&) const = default;
};

struct Workloads {
  bool is_known = false;  // false: the kubelet has not answered (or is not asked)
  std::string fault;      // why it is unknown
  // By the device id of device plugins: a GPU's UUID, a MIG UUID, or (AMD) a PCI address.
  std::map<std::string, std::vector<Workload>> by_device;
  bool operator==(const Workloads&) const = default;
};

}  // namespace gpuward::exporter
