#include "exporter/watch/lost_library.h"

namespace gpuward::exporter {
namespace {

std::string why_lost(const VendorReading* reading, const std::string& library) {
  if (reading == nullptr || reading->state == LibraryState::kAbsent) return library + ": is gone";
  return reading->library + ": " + reading->fault;
}

}  // namespace

std::optional<std::string> LostLibrary::look(const GpuTelemetry& telemetry, bool is_driver_loaded,
                                             Clock::Steady now, std::chrono::milliseconds limit) {
  if (telemetry.state != WorkerState::kAnswering || !telemetry.report) return std::nullopt;
  const VendorReading* const nvidia = telemetry.report->find(Vendor::kNvidia);
  const bool works = nvidia != nullptr && nvidia->state == LibraryState::kReady;
  if (works) worked_ = nvidia->library;
  if (works || worked_.empty() || !is_driver_loaded) {
    failing_since_.reset();
    return std::nullopt;
  }
  failing_since_ = failing_since_.value_or(now);
  if (now - *failing_since_ < limit) return std::nullopt;
  return why_lost(nvidia, worked_);
}

}  // namespace gpuward::exporter
