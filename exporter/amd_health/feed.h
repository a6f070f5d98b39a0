// The data that gpuward-exporter sends to gpuward-amd-health: the health of each GPU, as one line
// of JSON
//   {"gpus":[{"device":"0000:05:00.0","health":"healthy","id":"0","uuid":"GPU-…",
//             "workloads":["namespace/pod/container"]}],
//    "is_known":true,"thresholds":{"GPU_ECC_UNCORRECT_UMC":0,…}}
// "id" is the index of an AMD GPU, and "nvidia-0" for one of NVIDIA. Pure. Used by
// AmdHealthService.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "exporter/store/store.h"

namespace gpuward::exporter {

// The vendors whose GPUs are reported to AMD's device plugin.
enum class HealthVendors : std::uint8_t { kAmdOnly, kAll };

// Returns the line with its end. `thresholds` by AMD's field (AmdThresholds::by_field). A lost GPU
// stays in the list as unhealthy, because the device plugin treats a missing one as healthy.
[[nodiscard]] std::string health_line(const Snapshot& snapshot, HealthVendors vendors,
                                      const std::map<std::string, std::uint64_t>& thresholds);

}  // namespace gpuward::exporter
