// Whether the GPUs can be given to a diagnostic now, from what the exporter already knows. Pure,
// but for a look at the names in /proc. Used by the checks that load the GPUs.
#pragma once

#include <optional>
#include <string>

#include "exporter/host/host_paths.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Who uses a GPU: "pid 4711 uses 0000:4e:00", "pod training/llm-0 has a GPU". nullopt: nobody that
// we know of. What nobody could tell us does not count as use.
[[nodiscard]] std::optional<std::string> gpu_user(const Snapshot& snapshot);

// The first GPU in MIG mode: "0000:4e:00 is in MIG mode".
[[nodiscard]] std::optional<std::string> mig_gpu(const Snapshot& snapshot);

// Telemetry that holds the GPUs' profiling counters: "dcgm-exporter runs (pid 99)".
[[nodiscard]] std::optional<std::string> telemetry_reader(const HostPaths& host);

// NVIDIA GPUs that the exporter knows of.
[[nodiscard]] std::size_t nvidia_gpu_count(const Snapshot& snapshot);

// The driver has answered, and there is no NVIDIA GPU.
[[nodiscard]] bool has_no_nvidia_gpu(const Snapshot& snapshot);

}  // namespace gpuward::exporter
