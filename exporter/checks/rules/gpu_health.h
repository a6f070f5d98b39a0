// Whether a workload may use a GPU, as one word, for consumers that ask for each GPU: AMD's health
// service and its device plugin, a label for each GPU. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/model/gpu.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

enum class GpuHealth : std::uint8_t { kUnknown, kHealthy, kUnhealthy };

// "unknown", "healthy", "unhealthy".
[[nodiscard]] constexpr std::string_view to_string(GpuHealth health) {
  constexpr std::string_view kNames[] = {"unknown", "healthy", "unhealthy"};
  return kNames[static_cast<std::size_t>(health)];
}

// Unknown before the first reading. Unhealthy if a finding of reset or above is latched on that GPU
// (errors over their thresholds are), if the driver does not report the GPU any more, or if the
// driver cannot be queried. This only keeps new work away; it is not a severity of the node.
[[nodiscard]] GpuHealth health_of(const Snapshot& snapshot, const Gpu& gpu);

}  // namespace gpuward::exporter
