// One whole reading of one GPU: its handle, who it is, and then group by group, for as long as it
// answers. Used by NvmlLibrary, on the worker's main thread.
#pragma once

#include <cstdint>

#include "exporter/gpu/nvidia/readings.h"
#include "exporter/gpu/nvidia/session.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter::nvml {

struct DeviceAnswer {
  GpuReading reading;
  Device device = nullptr;    // null where NVML counts the GPU and does not give it
  bool wants_reopen = false;  // the driver answers as if it were gone

  [[nodiscard]] bool can_be_asked() const {
    return device != nullptr && !reading.is_lost && !wants_reopen;
  }
};

struct ReadingPlan {
  const GpuChoice& choice;
  bool is_thorough = false;
  const Progress& progress;
};

// `known` is what the readings of this session have learnt of the GPU with that index.
[[nodiscard]] DeviceAnswer read_device(const Session& session, std::uint32_t index,
                                       const ReadingPlan& plan, KnownDevice& known);

}  // namespace gpuward::exporter::nvml
