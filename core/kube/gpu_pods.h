// Tells by their specs which pods use GPUs, which belong to a DaemonSet, and which have ended. A
// drain of GPU users and a sweep of an idle node both use it, because they must select the same
// pods. Pure.
#pragma once

#include "core/kube/objects.h"

namespace gpuward::kube {

// An evicted pod of a DaemonSet comes back at once. Garbage collection deletes the pods of a
// deleted DaemonSet, so no request per pod checks whether it still exists, as kubectl does.
[[nodiscard]] bool is_of_daemon_set(const Pod& pod);

// Whether all its containers have ended and none restarts: it uses nothing of its node.
[[nodiscard]] inline bool has_ended(const Pod& pod) {
  return pod.phase == "Succeeded" || pod.phase == "Failed";
}

// Whether the pod requests GPUs of any vendor (whole, MIG, shared), claims devices, or has a
// runtime class that gives GPUs without a request ("nvidia", "nvidia-cdi", "amd": the classes that
// the GPU operators create). The pods of a DaemonSet run under such a class on every node, so only
// their requests count. A pod may also get GPUs by a host path or by the default runtime, which its
// spec does not show: `gpu-users` reads the actual users on the node before a reset.
[[nodiscard]] bool uses_gpus(const Pod& pod);

}  // namespace gpuward::kube
