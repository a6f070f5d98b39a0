// How many GPUs a node has by its labels. Pure; used by the NodePublisher.
//
// NVIDIA's GPU feature discovery writes nvidia.com/gpu.count: the GPUs that its driver lists, not
// multiplied by time-slicing. It lists them again once a minute, so the label falls with a GPU that
// is lost. If all GPUs of the node use the MIG strategy `single`, it counts MIG devices instead,
// and nvidia.com/gpu.product has "-MIG-" (NVIDIA/k8s-device-plugin, internal/lm).
//
// AMD's node labeller writes beta.amd.com/gpu.device-id.<id>: the GPUs with that device id, not
// their partitions, as they were when it started (ROCm/k8s-device-plugin, cmd/k8s-node-labeller).
#pragma once

#include "core/kube/objects.h"
#include "exporter/store/state.h"

namespace gpuward::exporter {

// Leaves out the vendors whose GPUs the labels do not count. If the label counts MIG devices, it
// proves one GPU.
[[nodiscard]] GpuCounts gpus_by_labels(const kube::Labels& labels);

}  // namespace gpuward::exporter
