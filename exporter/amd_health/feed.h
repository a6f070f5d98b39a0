// What gpuward-exporter tells gpuward-amd-health: the health of each GPU, as one line of JSON
//   {"gpus":[{"device":"0000:05:00.0","health":"healthy","id":"0","uuid":"GPU-…",
//             "workloads":["namespace/pod/container"]}],
//    "is_known":true,"thresholds":{"GPU_ECC_UNCORRECT_UMC":0,…}}
// "id" is the index of an AMD GPU, and "nvidia-0" of one of NVIDIA.
// Pure but for the GPUs that it remembers. Used by AmdHealthService.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Whose GPUs are reported to AMD's device plugin.
enum class HealthVendors : std::uint8_t { kAmdOnly, kAll };

class AmdHealthFeed {
 public:
  explicit AmdHealthFeed(HealthVendors vendors) : vendors_(vendors) {}

  // With its line end. `thresholds` by AMD's field (AmdThresholds::by_field). A GPU that was there
  // once and is not any more stays in, unhealthy: else the device plugin would take it for sound.
  [[nodiscard]] std::string line(const Snapshot& snapshot,
                                 const std::map<std::string, std::uint64_t>& thresholds);

 private:
  void remember(const std::vector<Gpu>& gpus);

  HealthVendors vendors_;
  std::map<PciAddress, Gpu> gpus_;
};

}  // namespace gpuward::exporter
