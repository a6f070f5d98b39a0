// Whether the GPUs are free for a diagnostic, by what the exporter already knows. Pure, except that
// telemetry_reader() reads /proc. Used by the checks that load the GPUs.
#pragma once

#include <optional>
#include <string>

#include "exporter/host/host_paths.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Returns the first user of a GPU: "pid 4711 uses the GPU 0000:4e:00", "pod training/llm-0 is
// assigned the GPU ...". A hung GPU counts as in use. nullopt: no known user. A GPU whose processes
// could not be read does not count as in use.
[[nodiscard]] std::optional<std::string> gpu_user(const Snapshot& snapshot);

// Returns the first GPU in MIG mode: "0000:4e:00 is in MIG mode".
[[nodiscard]] std::optional<std::string> mig_gpu(const Snapshot& snapshot);

// Returns the telemetry that holds the GPUs' profiling counters: "dcgm-exporter is running (pid
// 99)".
[[nodiscard]] std::optional<std::string> telemetry_reader(const HostPaths& host);

// Returns the number of NVIDIA GPUs that the exporter knows.
[[nodiscard]] std::size_t nvidia_gpu_count(const Snapshot& snapshot);

// Returns true if the driver has answered and there is no NVIDIA GPU.
[[nodiscard]] bool has_no_nvidia_gpu(const Snapshot& snapshot);

}  // namespace gpuward::exporter
