// Finds the users of a GPU: maps the kubelet's device names to the GPU, or to the GPU that the
// device is a part of. Pure; used by metrics, by findings (to name the affected job), and by the
// check for an idle GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "exporter/gpu/report/reading.h"
#include "exporter/store/store.h"
#include "exporter/store/workload.h"

namespace gpuward::exporter {

// Returns the driver's last reading of it, of any age; null if there is none.
[[nodiscard]] const GpuReading* reading_of(const Gpu& gpu, const GpuTelemetry& telemetry);

// Returns the possible device ids of a GPU and its parts (device_id.h). `reading` may be null if
// there is none: MIG instances and minor numbers are unknown then.
[[nodiscard]] std::vector<std::string> device_ids_of(const Gpu& gpu, const GpuReading* reading);

// Sorted, without duplicates; empty if there are none or they are unknown.
[[nodiscard]] std::vector<Workload> users_of(std::span<const std::string> device_ids,
                                             const Workloads& workloads);
[[nodiscard]] std::vector<Workload> users_of(const Gpu& gpu, const Snapshot& snapshot);

// Names for a label, for an operator and for Finding::workload: without duplicates, in order, with
// commas; at most four, then ",…". Empty if there is no user.
[[nodiscard]] std::string namespaces_of(std::span<const Workload> users);
[[nodiscard]] std::string pods_of(std::span<const Workload> users);
[[nodiscard]] std::string containers_of(std::span<const Workload> users);
// `namespace/pod`.
[[nodiscard]] std::string workload_of(std::span<const Workload> users);
[[nodiscard]] std::string workload_of(const Gpu& gpu, const Snapshot& snapshot);

}  // namespace gpuward::exporter
