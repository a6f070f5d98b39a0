// Which pods use GPUs, as far as their specs say it, which are agents of a DaemonSet, and which
// have ended. Read before a drain that takes only users of GPUs, and before a sweep of an idle
// node: both must see the same pods. Pure.
#pragma once

#include "core/kube/objects.h"

namespace gpuward::kube {

// Evicted, such a pod comes back at once. A DaemonSet that is gone takes its pods along (garbage
// collection): no request per pod asks whether it still exists, as kubectl does.
[[nodiscard]] bool is_of_daemon_set(const Pod& pod);

// Whether all its containers have ended and none starts again: it uses nothing of its node.
[[nodiscard]] inline bool has_ended(const Pod& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}

// Whether the pod asks for GPUs of any vendor (whole, MIG, shared), claims devices, or runs under a
// runtime class that hands out GPUs without a request ("nvidia", "nvidia-cdi", "amd": the classes
// that the GPU operators make). Agents of a DaemonSet run under such a class on every node: they
// count by what they ask for alone. A pod may also get GPUs by a host path or by the default
// runtime, which its spec does not say: `gpu-users` reads on the node who holds them before a
// reset.
[[nodiscard]] bool uses_gpus(const Pod& pod);

}  // namespace gpuward::kube
