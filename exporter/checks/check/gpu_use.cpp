#include "exporter/checks/check/gpu_use.h"

#include <algorithm>

#include "exporter/host/processes.h"

namespace gpuward::exporter {
namespace {

const VendorReading* nvidia_report(const Snapshot& snapshot) {
  return snapshot.telemetry.report == nullptr ? nullptr
                                              : snapshot.telemetry.report->find(Vendor::kNvidia);
}

}  // namespace

std::optional<std::string> gpu_user(const Snapshot& snapshot) {
  for (const auto& [device, users] : snapshot.workloads.by_device) {
    if (!users.empty())
      return "pod " + users.front().ns + "/" + users.front().pod + " is assigned the GPU " + device;
  }
  const VendorReading* const report = nvidia_report(snapshot);
  if (report == nullptr) return std::nullopt;
  for (const GpuReading& reading : report->gpus) {
    // The users of a hung GPU cannot be read, and a program on another GPU may hang too.
    if (reading.is_hung) return "the GPU " + reading.gpu.pci.bus_id() + " does not answer";
    if (reading.processes && !reading.processes->empty()) {
      return "pid " + std::to_string(reading.processes->front().pid) + " uses the GPU " +
             reading.gpu.pci.bus_id();
    }
  }
  return std::nullopt;
}

std::optional<std::string> mig_gpu(const Snapshot& snapshot) {
  const VendorReading* const report = nvidia_report(snapshot);
  if (report == nullptr) return std::nullopt;
  const auto found = std::ranges::find_if(
      report->gpus, [](const GpuReading& reading) { return reading.mig_enabled == true; });
  if (found == report->gpus.end()) return std::nullopt;
  return found->gpu.pci.bus_id() + " is in MIG mode";
}

std::optional<std::string> telemetry_reader(const HostPaths& host) {
  constexpr std::string_view kExporter = "dcgm-exporter";
  const Processes processes = list_processes(host);
  const Process* const running = find_of_root(host, processes, kExporter);
  if (running == nullptr) return std::nullopt;
  return std::string(kExporter) + " is running (pid " + std::to_string(running->pid) + ")";
}

std::size_t nvidia_gpu_count(const Snapshot& snapshot) {
  return static_cast<std::size_t>(std::ranges::count(snapshot.gpus, Vendor::kNvidia, &Gpu::vendor));
}

bool has_no_nvidia_gpu(const Snapshot& snapshot) {
  const VendorReading* const report = nvidia_report(snapshot);
  return nvidia_gpu_count(snapshot) == 0 && report != nullptr &&
         report->state != LibraryState::kUnusable && report->gpus.empty();
}

}  // namespace gpuward::exporter
