#include "exporter/checks/rules/gpu_health.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

bool is_latched(const Snapshot& snapshot, const Gpu& gpu) {
  const std::string bus_id = gpu.pci.bus_id();
  return std::ranges::any_of(snapshot.state.findings, [&](const auto& entry) {
    return entry.second.pci_bus_id == bus_id && entry.second.severity >= Severity::kReset;
  });
}

// While a worker that exited is restarting, its last report stays valid.
bool can_ask(const GpuTelemetry& telemetry) {
  switch (telemetry.state) {
    case WorkerState::kStarting:
    case WorkerState::kAnswering:
      return true;
    case WorkerState::kReleased:
    case WorkerState::kHung:
    case WorkerState::kCrashed:
      return false;
  }
  return false;
}

bool is_spoken_of(const GpuReport& report, const Gpu& gpu) {
  const VendorReading* const vendor = report.find(gpu.vendor);
  if (vendor == nullptr || vendor->state != LibraryState::kReady) return false;
  const GpuReading* const reading = vendor->find(gpu.pci);
  return reading != nullptr && !reading->is_lost && reading->fault.empty();
}

}  // namespace

GpuHealth health_of(const Snapshot& snapshot, const Gpu& gpu) {
  const GpuTelemetry& telemetry = snapshot.telemetry;
  if (!telemetry.report) return GpuHealth::kUnknown;
  const bool is_healthy =
      can_ask(telemetry) && is_spoken_of(*telemetry.report, gpu) && !is_latched(snapshot, gpu);
  return is_healthy ? GpuHealth::kHealthy : GpuHealth::kUnhealthy;
}

}  // namespace gpuward::exporter
