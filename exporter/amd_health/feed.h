// What gpuward-exporter tells gpuward-amd-health: the health of each GPU, as one line of JSON
//   {"gpus":[{"device":"0000:05:00.0","health":"healthy","id":"0","uuid":"GPU-…",
//             "workloads":["namespace/pod/container"]}],
//    "is_known":true,"thresholds":{"GPU_ECC_UNCORRECT_UMC":0,…}}
// "id" is the index of an AMD GPU, and "nvidia-0" of one of NVIDIA.
// Pure. Used by AmdHealthService.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "exporter/store/store.h"

namespace gpuward::exporter {

// Whose GPUs are reported to AMD's device plugin.
enum class HealthVendors : std::uint8_t { kAmdOnly, kAll };

// With its line end. `thresholds` by AMD's field (AmdThresholds::by_field). A GPU that is gone
// stays in, unhealthy: otherwise the device plugin would treat it as healthy.
[[nodiscard]] std::string health_line(const Snapshot& snapshot, HealthVendors vendors,
                                      const std::map<std::string, std::uint64_t>& thresholds);

}  // namespace gpuward::exporter
