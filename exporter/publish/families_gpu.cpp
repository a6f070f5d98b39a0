#include "exporter/publish/families_gpu.h"

#include <array>

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using Reading = const GpuReading&;

// What a GPU is and whether it can be worked with.
constexpr std::array kStanding{
    ReadingColumn{
        .name = "gpuward_gpu_lost",
        .labels = {},
        .value = [](Reading r) { return Maybe<double>(r.is_lost); },
        .help = "Whether the driver says that it cannot reach the GPU any more.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_answers",
        .labels = {},
        .value = [](Reading r) { return Maybe<double>(!r.is_lost && r.fault.empty()); },
        .help = "Whether the driver has said anything of the GPU at the newest reading.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_recovery_action",
        .labels = {},
        .value = [](Reading r) { return number(r.recovery_action); },
        .help = "What the driver asks for: 0 none, 1 GPU reset, 2 node reboot, 3 drain "
                "peer-to-peer, 4 drain and reset, 5 recover the IMEX domain.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_ecc_enabled",
        .labels = {},
        .value = [](Reading r) { return number(r.ecc_enabled); },
        .help = "Whether ECC is on.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_ecc_pending_enabled",
        .labels = {},
        .value = [](Reading r) { return number(r.ecc_pending); },
        .help = "Whether ECC will be on after the next reboot.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_persistence_mode",
        .labels = {},
        .value = [](Reading r) { return number(r.persistence_mode); },
        .help = "Whether persistence mode is on.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_mig_enabled",
        .labels = {},
        .value = [](Reading r) { return number(r.mig_enabled); },
        .help = "Whether MIG is on.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_in_kfd",
        .labels = {},
        .value = [](Reading r) { return number(r.is_in_kfd); },
        .help = "Whether AMD's compute driver (KFD) offers the GPU to programs.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_processes",
        .labels = {},
        .value =
            [](Reading r) {
              return r.processes ? Maybe<double>(r.processes->size()) : std::nullopt;
            },
        .help = "Processes that compute on the GPU.",
    },
};

}  // namespace

void append_gpu_families(const Snapshot& snapshot, const MetricsOptions& options,
                         Families& families) {
  const std::vector<LabelledReading> readings = current_readings(snapshot);
  append_columns(kStanding, readings, families);
  append_gpu_memory_families(readings, families);
  append_gpu_load_families(readings, families);
  append_gpu_link_families(readings, options, families);
}

}  // namespace gpuward::exporter
