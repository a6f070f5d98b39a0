#include "exporter/watch/lost_library.h"

namespace gpuward::exporter {

std::optional<std::string> LostLibrary::look(const GpuTelemetry& telemetry, Clock::Steady now,
                                             std::chrono::milliseconds limit) {
  if (telemetry.state != WorkerState::kAnswering || !telemetry.report) return std::nullopt;
  for (const VendorReading& reading : telemetry.report->vendors) {
    if (reading.state != LibraryState::kUnusable) {
      worked_.insert(reading.vendor);
      failing_since_.erase(reading.vendor);
    } else if (worked_.contains(reading.vendor)) {
      const auto since = failing_since_.try_emplace(reading.vendor, now).first->second;
      if (now - since >= limit) return reading.library + ": " + reading.fault;
    }
  }
  return std::nullopt;
}

}  // namespace gpuward::exporter
