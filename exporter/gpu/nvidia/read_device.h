// One whole reading of one GPU: its handle, its identity, and then each group while it responds.
// Used by NvmlLibrary, on the worker's main thread.
#pragma once

#include <cstdint>

#include "exporter/gpu/nvidia/readings.h"
#include "exporter/gpu/nvidia/session.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter::nvml {

struct DeviceAnswer {
  GpuReading reading;
  Device device = nullptr;    // null if NVML counts the GPU but has no handle
  bool wants_reopen = false;  // the driver responds as if it were unloaded

  [[nodiscard]] bool can_be_asked() const {
    return device != nullptr && !reading.is_lost && !wants_reopen;
  }
};

struct ReadingPlan {
  const GpuChoice& choice;
  bool is_thorough = false;
  const Progress& progress;
};

// `known` is the state that earlier readings of this session have recorded for that index.
[[nodiscard]] DeviceAnswer read_device(const Session& session, std::uint32_t index,
                                       const ReadingPlan& plan, KnownDevice& known);

}  // namespace gpuward::exporter::nvml
