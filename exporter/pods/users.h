// Who uses a GPU: joins what the kubelet calls a device to the GPU that it is or is a part of.
// Pure; used by metrics, by findings (whose job was hurt), and by whoever asks whether a GPU is
// idle.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "exporter/gpu/report/reading.h"
#include "exporter/store/store.h"
#include "exporter/store/workload.h"

namespace gpuward::exporter {

// What the driver has said of it last, however old; null where it has not.
[[nodiscard]] const GpuReading* reading_of(const Gpu& gpu, const GpuTelemetry& telemetry);

// Under which device ids a GPU and its parts can be known (device_id.h). `reading` null where the
// driver has not been asked: MIG instances and minor numbers are then not known.
[[nodiscard]] std::vector<std::string> device_ids_of(const Gpu& gpu, const GpuReading* reading);

// Sorted, each once; empty where nobody does or nobody knows.
[[nodiscard]] std::vector<Workload> users_of(std::span<const std::string> device_ids,
                                             const Workloads& workloads);
[[nodiscard]] std::vector<Workload> users_of(const Gpu& gpu, const Snapshot& snapshot);

// Names for a label, for a person and for Finding::workload: each once, in order, with commas; at
// most four, then ",…". Empty where nobody uses it.
[[nodiscard]] std::string namespaces_of(std::span<const Workload> users);
[[nodiscard]] std::string pods_of(std::span<const Workload> users);
[[nodiscard]] std::string containers_of(std::span<const Workload> users);
// `namespace/pod`.
[[nodiscard]] std::string workload_of(std::span<const Workload> users);
[[nodiscard]] std::string workload_of(const Gpu& gpu, const Snapshot& snapshot);

}  // namespace gpuward::exporter
