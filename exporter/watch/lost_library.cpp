#include "exporter/watch/lost_library.h"

namespace gpuward::exporter {
namespace {

std::string why_lost(const VendorReading* reading, const std::string& library) {
  if (reading == nullptr || reading->state == LibraryState::kAbsent) return library + ": is gone";
  return reading->library + ": " + reading->fault;
}

}  // namespace

std::optional<std::string> LostLibrary::look(const GpuTelemetry& telemetry, Clock::Steady now,
                                             std::chrono::milliseconds limit) {
  if (telemetry.state != WorkerState::kAnswering || !telemetry.report) return std::nullopt;
  for (const VendorReading& reading : telemetry.report->vendors) {
    if (reading.state == LibraryState::kReady) worked_[reading.vendor] = reading.library;
  }
  for (const auto& [vendor, library] : worked_) {
    const VendorReading* const reading = telemetry.report->find(vendor);
    if (reading != nullptr && reading->state == LibraryState::kReady) {
      failing_since_.erase(vendor);
      continue;
    }
    const auto since = failing_since_.try_emplace(vendor, now).first->second;
    if (now - since >= limit) return why_lost(reading, library);
  }
  return std::nullopt;
}

}  // namespace gpuward::exporter
