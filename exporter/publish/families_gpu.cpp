#include "exporter/publish/families_gpu.h"

#include <array>

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using Reading = const GpuReading&;

constexpr std::string_view kWorkerIsSilent = "while the worker does not answer";

// The identity of a GPU, and whether programs can use it.
constexpr auto kStanding = std::to_array<ReadingColumn>({
    {.family =
         {"gpuward_gpu_lost",
          "Whether the driver reports that it cannot reach the GPU any more (NVML: GPU is lost).",
          kGauge,
          {},
          kWorkerIsSilent},
     .value = [](Reading r) { return Maybe<double>(r.is_lost); }},
    {.family = {"gpuward_gpu_answers",
                "Whether the driver reported anything about the GPU in the newest reading.",
                kGauge,
                {},
                kWorkerIsSilent},
     .value = [](Reading r) { return Maybe<double>(!r.is_lost && r.fault.empty()); }},
    {.family = {"gpuward_gpu_recovery_action",
                "What the driver asks for (NVML field 230): 0 none, 1 GPU reset, 2 node reboot, 3 "
                "drain peer-to-peer, 4 drain and reset, 5 recover the IMEX domain."},
     .value = [](Reading r) { return number(r.recovery_action); }},
    {.family = {"gpuward_gpu_ecc_enabled", "Whether ECC is on."},
     .value = [](Reading r) { return number(r.ecc_enabled); }},
    {.family = {"gpuward_gpu_ecc_pending_enabled", "Whether ECC will be on after the next reboot."},
     .value = [](Reading r) { return number(r.ecc_pending); }},
    {.family = {"gpuward_gpu_persistence_mode", "Whether persistence mode is on."},
     .value = [](Reading r) { return number(r.persistence_mode); }},
    {.family = {"gpuward_gpu_mig_enabled", "Whether MIG is on."},
     .value = [](Reading r) { return number(r.mig_enabled); }},
    {.family = {"gpuward_gpu_in_kfd",
                "Whether AMD's compute driver (KFD) offers the GPU to programs.",
                kGauge,
                {},
                "for GPUs of other vendors, and when that driver is not loaded"},
     .value = [](Reading r) { return number(r.is_in_kfd); }},
    {.family = {"gpuward_gpu_processes", "Number of compute processes on the GPU."},
     .value =
         [](Reading r) { return r.processes ? Maybe<double>(r.processes->size()) : std::nullopt; }},
});

}  // namespace

void append_gpu_families(const Snapshot& snapshot, const MetricsOptions& options,
                         Families& families) {
  const LabelledReadings readings = current_readings(snapshot);
  append_columns(kStanding, readings, families);
  append_gpu_memory_families(readings, families);
  append_gpu_load_families(readings, families);
  append_gpu_link_families(readings, options, families);
}

}  // namespace gpuward::exporter
