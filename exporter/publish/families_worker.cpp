#include <array>

#include "core/metrics/process.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::counter;
using metrics::Family;
using metrics::gauge;
using metrics::Type;

struct NamedState {
  WorkerState state;
  const char* name;
};
constexpr std::array kWorkerStates{NamedState{WorkerState::kStarting, "starting"},
                                   NamedState{WorkerState::kAnswering, "answering"},
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
  families.push_back(gauge("gpuward_gpu_worker_up",
                           "Whether the process that asks the GPU libraries answers.",
                           to_number(telemetry.state == WorkerState::kAnswering)));
  Family state{"gpuward_gpu_worker_state",
               "How that process is: 1 for its state, 0 for the others.",
               Type::kGauge,
               {}};
  for (const NamedState& one : kWorkerStates) {
    state.samples.push_back({{{"state", one.name}}, to_number(one.state == telemetry.state)});
  }
  families.push_back(std::move(state));
  families.push_back(counter("gpuward_gpu_worker_restarts_total",
                             "Times that process had to be started again.",
                             static_cast<double>(telemetry.restarts)));
  families.push_back(counter("gpuward_gpu_worker_hangs_total",
                             "Times a call of a GPU library has not come back in time.",
                             static_cast<double>(telemetry.hangs)));
  families.push_back(counter("gpuward_gpu_probes_total",
                             "Times a GPU that hangs was asked by a process of its own.",
                             static_cast<double>(telemetry.probes)));
  families.push_back(gauge("gpuward_gpu_error_records_given_up",
                           "Whether AMD's error records (CPER) are left alone because the library "
                           "has crashed there three times in a row.",
                           to_number(telemetry.has_given_up_error_records)));
}

void append_reading(const GpuTelemetry& telemetry, Families& families) {
  if (!telemetry.report) return;
  families.push_back(gauge("gpuward_gpu_reading_timestamp_seconds",
                           "When the GPUs were last read; their age is time() less this.",
                           to_seconds(telemetry.read_at)));
  families.push_back(gauge("gpuward_gpu_reading_duration_seconds", "How long that reading took.",
                           std::chrono::duration<double>(telemetry.read_duration).count()));
}

// NVIDIA's alone: the other drivers have no such events.
void append_events(const GpuTelemetry& telemetry, Families& families) {
  const VendorReport* const report =
      telemetry.report ? telemetry.report->find(Vendor::kNvidia) : nullptr;
  if (report == nullptr || report->state != LibraryState::kReady) return;
  families.push_back(gauge("gpuward_gpu_events_up",
                           "Whether NVIDIA's driver can be waited on for Xid events; at 0 the call "
                           "does not come back, and the kernel log alone tells of Xids.",
                           to_number(!report->has_hung_events)));
}

void append_libraries(const GpuTelemetry& telemetry, Families& families) {
  if (!telemetry.report) return;
  Family info{"gpuward_gpu_library_info",
              "The vendor's library and driver, where they can be used.",
              Type::kGauge,
              {}};
  Family state{"gpuward_gpu_library_state",
               "Whether the vendor's library is there and works: 1 for its state, 0 for the "
               "others.",
               Type::kGauge,
               {}};
  for (const VendorReport& report : telemetry.report->vendors) {
    const std::string vendor(to_string(report.vendor));
    if (report.state == LibraryState::kReady) {
      info.samples.push_back({{{"vendor", vendor},
                               {"library", report.library},
                               {"driver_version", report.driver_version},
                               {"library_version", report.library_version}},
                              1});
    }
    for (const NamedLibraryState& one : kLibraryStates) {
      state.samples.push_back(
          {{{"vendor", vendor}, {"state", one.name}}, to_number(one.state == report.state)});
    }
  }
  families.push_back(std::move(info));
  families.push_back(std::move(state));
}

}  // namespace

void append_worker_families(const Snapshot& snapshot, Families& families) {
  append_worker(snapshot.telemetry, families);
  append_reading(snapshot.telemetry, families);
  append_libraries(snapshot.telemetry, families);
  append_events(snapshot.telemetry, families);
}

}  // namespace gpuward::exporter
