// Whether a driver library that has worked in this process has failed for so long that only a new
// container can help. If a runtime has put the library into the container when that started, the
// file of an upgraded driver is not there. Pure; used by the GpuWatcher. A library that has never
// worked is no reason, so an exporter restarts once for each upgrade.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/gpu/report/source.h"

namespace gpuward::exporter {

class LostLibrary {
 public:
  // One thread, with each telemetry. Why the exporter should end; nullopt if it should not. A
  // driver that hangs or crashes says nothing of its library.
  [[nodiscard]] std::optional<std::string> look(const GpuTelemetry& telemetry, Clock::Steady now,
                                                std::chrono::milliseconds limit);

 private:
  std::set<Vendor> worked_;
  std::map<Vendor, Clock::Steady> failing_since_;
};

}  // namespace gpuward::exporter
