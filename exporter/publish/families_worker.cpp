#include <array>

#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;

struct NamedState {
  WorkerState state;
  const char* name;
};
constexpr std::array kWorkerStates{NamedState{WorkerState::kStarting, "starting"},
                                   NamedState{WorkerState::kAnswering, "answering"},
                                   NamedState{WorkerState::kReleased, "released"},
                                   NamedState{WorkerState::kHung, "hung"},
                                   NamedState{WorkerState::kCrashed, "crashed"}};

struct NamedLibraryState {
  LibraryState state;
  const char* name;
};
constexpr std::array kLibraryStates{NamedLibraryState{LibraryState::kAbsent, "absent"},
                                    NamedLibraryState{LibraryState::kUnusable, "unusable"},
                                    NamedLibraryState{LibraryState::kReady, "ready"}};

void append_worker(const GpuTelemetry& telemetry, Families& families) {
  declare(families,
          {"gpuward_gpu_worker_up",
           "Whether the process that reads the GPU libraries answers. A worker that does not "
           "answer does not mean that a GPU is broken."},
          telemetry.state == WorkerState::kAnswering);
  auto& state = declare(families, {"gpuward_gpu_worker_state",
                                   "1 for the worker's state, 0 for the others: `starting`, "
                                   "`answering`, `released`, `hung`, `crashed`.",
                                   kGauge,
                                   {"state"}});
  for (const NamedState& one : kWorkerStates) state.add({one.name}, one.state == telemetry.state);
  declare(families,
          {"gpuward_gpu_worker_restarts_total",
           "How many times the worker was restarted since the exporter started.", kCounter},
          telemetry.restarts);
  declare(families,
          {"gpuward_gpu_worker_hangs_total",
           "How many times a call to a GPU library did not return in time.", kCounter},
          telemetry.hangs);
  declare(
      families,
      {"gpuward_gpu_probes_total",
       "How many times a separate process read a hung GPU while the worker read the other GPUs.",
       kCounter},
      telemetry.probes);
  declare(families,
          {"gpuward_gpu_error_records_given_up",
           "1 when AMD's error records (CPER) are not read any more because the library crashed on "
           "them three times in a row; restart the exporter to try again."},
          telemetry.has_given_up_error_records);
}

void append_release(const Health& health, Families& families) {
  declare(
      families,
      {"gpuward_gpu_released",
       "1 while this exporter holds no GPU, because another program wants them for itself, such "
       "as a reset or a driver upgrade. Values of GPUs are absent then, and checks are skipped."},
      health.release && health.release->is_released);
  declare(
      families,
      {"gpuward_gpu_release_requested",
       "1 while a request of a program or a label of the Node asks this exporter to release the "
       "GPUs. If `gpuward_gpu_released` stays 0, something in the exporter still holds a GPU."},
      health.release.has_value());
}

void append_reading(const GpuTelemetry& telemetry, Families& families) {
  constexpr std::string_view kUntilRead =
      "until the GPUs have been read, and while they are released";
  if (!telemetry.report) return;
  declare(families,
          {"gpuward_gpu_reading_timestamp_seconds",
           "When the GPUs were last read; `time()` minus this is the age of the values.",
           kGauge,
           {},
           kUntilRead},
          telemetry.read_at);
  declare(families,
          {"gpuward_gpu_reading_duration_seconds",
           "How long the last reading of the GPUs took.",
           kGauge,
           {},
           kUntilRead},
          telemetry.read_duration);
}

// Only for NVIDIA, because other drivers have no such events.
void append_events(const GpuTelemetry& telemetry, Families& families) {
  const VendorReading* const report =
      telemetry.report ? telemetry.report->find(Vendor::kNvidia) : nullptr;
  if (report == nullptr || report->state != LibraryState::kReady) return;
  declare(families,
          {"gpuward_gpu_events_up",
           "Whether the exporter receives Xid events from NVIDIA's driver. At 0, the driver's "
           "event call has hung for 10 s: only the kernel log reports Xids, and every reading also "
           "queries all values that reveal the same errors.",
           kGauge,
           {},
           "without NVIDIA's driver"},
          !report->has_hung_events);
}

void append_libraries(const GpuTelemetry& telemetry, Families& families) {
  if (!telemetry.report) return;
  auto& info = declare(families, {"gpuward_gpu_library_info",
                                  "1; the vendor's library and driver.",
                                  kGauge,
                                  {"vendor", "library", "driver_version", "library_version"},
                                  "when the library cannot be used"});
  auto& state =
      declare(families, {"gpuward_gpu_library_state",
                         "1 for the library's state, 0 for the others: `absent` (no such "
                         "library here, which is not an error), `unusable` (version "
                         "mismatch, driver not loaded), `ready`.",
                         kGauge,
                         {"vendor", "state"},
                         "until the library has been queried, and while the GPUs are released"});
  for (const VendorReading& report : telemetry.report->vendors) {
    const std::string_view vendor = to_string(report.vendor);
    if (report.state == LibraryState::kReady)
      info.add({vendor, report.library, report.driver_version, report.library_version}, 1);
    for (const NamedLibraryState& one : kLibraryStates)
      state.add({vendor, one.name}, one.state == report.state);
  }
}

}  // namespace

void append_worker_families(const Snapshot& snapshot, Families& families) {
  append_worker(snapshot.telemetry, families);
  append_release(snapshot.health, families);
  append_reading(snapshot.telemetry, families);
  append_libraries(snapshot.telemetry, families);
  append_events(snapshot.telemetry, families);
}

}  // namespace gpuward::exporter
