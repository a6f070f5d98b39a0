// Snapshots of the store for the tests of the data that the exporter publishes on a node: eight
// GPUs, checks that have passed, and additions of the test.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "exporter/store/store.h"

namespace gpuward::exporter {

inline constexpr WallTime kNoon{std::chrono::seconds(1'767'268'800)};  // 2026-01-01T12:00:00Z

inline Gpu gpu_at(int index, Vendor vendor = Vendor::kNvidia) {
  Gpu gpu;
  gpu.index = index;
  gpu.vendor = vendor;
  gpu.pci.bus = static_cast<std::uint8_t>(0x10 + index);
  return gpu;
}

// The driver answers, and reports every GPU that exists.
inline void report_gpus(Snapshot& snapshot) {
  GpuReport report;
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd}) {
    VendorReading& reading = report.vendors.emplace_back();
    reading.vendor = vendor;
    reading.state = LibraryState::kReady;
    for (const Gpu& gpu : snapshot.gpus)
      if (gpu.vendor == vendor) reading.gpus.emplace_back().gpu = gpu;
  }
  snapshot.telemetry.state = WorkerState::kAnswering;
  snapshot.telemetry.report = std::make_shared<const GpuReport>(std::move(report));
}

inline void add_result(Snapshot& snapshot, const std::string& check, CheckStatus status,
                       Severity severity = Severity::kNone, WallTime when = kNoon) {
  CheckResult result;
  result.check = check;
  result.status = status;
  result.severity = severity;
  result.started = when;
  result.details = "no answer";
  snapshot.state.checks[check] = result;
}

inline void add_finding(Snapshot& snapshot, const std::string& code, Severity severity,
                        const std::string& bus_id = "", ClearedBy by = ClearedBy::kReboot) {
  Finding finding;
  finding.check = "xid";
  finding.code = code;
  finding.pci_bus_id = bus_id;
  finding.severity = severity;
  finding.cleared_by = by;
  finding.line = "what was seen";
  snapshot.state.findings[{finding.check, code, bus_id, finding.evidence}] = finding;
}

// The kernel log has been read, and nothing else.
inline Snapshot log_read() {
  Snapshot snapshot;
  snapshot.health.kernel_log_fault.reset();
  return snapshot;
}

inline Snapshot healthy(int gpus = 8) {
  Snapshot snapshot = log_read();
  snapshot.state.boot_id = "boot-gpu-01";
  snapshot.instance.type = "p5.48xlarge";
  for (int i = 0; i < gpus; ++i) snapshot.gpus.push_back(gpu_at(i));
  for (const char* check : {"0-nvidia-smi", "2-efa-enumeration", "3-topology-check"})
    add_result(snapshot, check, CheckStatus::kPass);
  return snapshot;
}

inline Snapshot broken() {
  Snapshot snapshot = healthy();
  add_finding(snapshot, "79", Severity::kReboot, "0000:13:00");
  return snapshot;
}

}  // namespace gpuward::exporter
