// Which pods use which GPU, as the kubelet says. Fed by the pod-resources watcher; joined into
// findings, metrics and the "are the GPUs idle" question of checks.
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
  bool is_known = false;  // false: the kubelet has not answered (or nobody asks it)
  std::string fault;      // why it is not known
  // By device id as device plugins name it: a GPU's UUID, a MIG UUID, or (AMD) a PCI address.
  std::map<std::string, std::vector<Workload>> by_device;
  bool operator==(const Workloads&) const = default;
};

}  // namespace gpuward::exporter
