// Detects that a driver library that has worked in this process has failed or been gone for so long
// that only a new container can help. If a runtime put the library into the container at its start,
// the file of an upgraded driver is not there; and if the node's folder was replaced, the container
// still has the old one mounted. Pure; used by the GpuWatcher. A library that has never worked does
// not count, so an exporter restarts once for each upgrade. AMD's GPUs are read from sysfs, which a
// new container does not change.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/gpu/report/source.h"

namespace gpuward::exporter {

class LostLibrary {
 public:
  // One thread, for each telemetry. Returns why the exporter should exit; nullopt if it should not.
  // A hung or crashed driver says nothing about its library. The time counts only while NVIDIA's
  // driver is loaded: before that, as during an upgrade, a new container would find no library.
  [[nodiscard]] std::optional<std::string> look(const GpuTelemetry& telemetry,
                                                bool is_driver_loaded, Clock::Steady now,
                                                std::chrono::milliseconds limit);

 private:
  std::string worked_;  // the library's name; empty: none yet
  std::optional<Clock::Steady> failing_since_;
};

}  // namespace gpuward::exporter
