#include <array>

#include "exporter/publish/families_gpu.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using metrics::Family;
using Reading = const GpuReading&;

constexpr std::string_view kEcc = "gpuward_gpu_ecc_errors_total";
constexpr std::string_view kEccMemory = "gpuward_gpu_ecc_memory_errors_total";
constexpr FixedLabel kCorrected{"error", "corrected"};
constexpr FixedLabel kUncorrected{"error", "uncorrected"};
constexpr FixedLabel kVolatile{"counter", "volatile"};
constexpr FixedLabel kAggregate{"counter", "aggregate"};
constexpr FixedLabel kSram{"memory", "sram"};
constexpr FixedLabel kDram{"memory", "dram"};

constexpr std::array kEccColumns{
    ReadingColumn{
        .name = kEcc,
        .type = kCounter,
        .labels = {kCorrected, kVolatile},
        .value = [](Reading r) { return number(r.ecc.corrected_volatile.total); },
        .help = "ECC errors. The volatile counters begin anew when the driver is loaded or the GPU "
                "is reset; the aggregate ones count for the life of the board.",
    },
    ReadingColumn{
        .name = kEcc,
        .type = kCounter,
        .labels = {kUncorrected, kVolatile},
        .value = [](Reading r) { return number(r.ecc.uncorrected_volatile.total); },
    },
    ReadingColumn{
        .name = kEcc,
        .type = kCounter,
        .labels = {kCorrected, kAggregate},
        .value = [](Reading r) { return number(r.ecc.corrected_aggregate.total); },
    },
    ReadingColumn{
        .name = kEcc,
        .type = kCounter,
        .labels = {kUncorrected, kAggregate},
        .value = [](Reading r) { return number(r.ecc.uncorrected_aggregate.total); },
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kCorrected, kVolatile, kSram},
        .value = [](Reading r) { return number(r.ecc.corrected_volatile.sram); },
        .help = "The same by where they were: in the GPU's own SRAM or in its DRAM.",
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kCorrected, kVolatile, kDram},
        .value = [](Reading r) { return number(r.ecc.corrected_volatile.dram); },
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kUncorrected, kVolatile, kSram},
        .value = [](Reading r) { return number(r.ecc.uncorrected_volatile.sram); },
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kUncorrected, kVolatile, kDram},
        .value = [](Reading r) { return number(r.ecc.uncorrected_volatile.dram); },
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kCorrected, kAggregate, kSram},
        .value = [](Reading r) { return number(r.ecc.corrected_aggregate.sram); },
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kCorrected, kAggregate, kDram},
        .value = [](Reading r) { return number(r.ecc.corrected_aggregate.dram); },
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kUncorrected, kAggregate, kSram},
        .value = [](Reading r) { return number(r.ecc.uncorrected_aggregate.sram); },
    },
    ReadingColumn{
        .name = kEccMemory,
        .type = kCounter,
        .labels = {kUncorrected, kAggregate, kDram},
        .value = [](Reading r) { return number(r.ecc.uncorrected_aggregate.dram); },
    },
    ReadingColumn{
        .name = "gpuward_gpu_sram_uncorrectable_errors_total",
        .type = kCounter,
        .labels = {FixedLabel{"protection", "parity"}},
        .value = [](Reading r) { return number(r.sram_unc_parity); },
        .help = "Uncorrectable errors of the SRAM in the life of the board, by what has noticed "
                "them.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_sram_uncorrectable_errors_total",
        .type = kCounter,
        .labels = {FixedLabel{"protection", "secded"}},
        .value = [](Reading r) { return number(r.sram_unc_secded); },
    },
    ReadingColumn{
        .name = "gpuward_gpu_sram_threshold_exceeded",
        .labels = {},
        .value = [](Reading r) { return number(r.sram_threshold_exceeded); },
        .help = "Whether the SRAM has had more errors than the board may have.",
    },
};

constexpr std::string_view kBanks = "gpuward_gpu_remapped_rows_banks";

// Counts that only grow in the life of a board, but gauges all the same: what matters is how many
// there are, and another board in the slot begins anew.
constexpr std::array kRepairColumns{
    ReadingColumn{
        .name = "gpuward_gpu_retired_pages",
        .labels = {FixedLabel{"error", "single_bit"}},
        .value = [](Reading r) { return number(r.retired.single_bit); },
        .help = "Memory pages taken out of use, by the errors that were the reason.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_retired_pages",
        .labels = {FixedLabel{"error", "double_bit"}},
        .value = [](Reading r) { return number(r.retired.double_bit); },
    },
    ReadingColumn{
        .name = "gpuward_gpu_retired_pages_pending",
        .labels = {},
        .value = [](Reading r) { return number(r.retired.pending); },
        .help = "Whether a page waits for a reboot to be taken out of use.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_remapped_rows",
        .labels = {kCorrected},
        .value = [](Reading r) { return number(r.rows.correctable); },
        .help = "Memory rows replaced by spare ones, by the errors that were the reason.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_remapped_rows",
        .labels = {kUncorrected},
        .value = [](Reading r) { return number(r.rows.uncorrectable); },
    },
    ReadingColumn{
        .name = "gpuward_gpu_remapped_rows_pending",
        .labels = {},
        .value = [](Reading r) { return number(r.rows.pending); },
        .help = "Whether a row waits for a GPU reset to be replaced.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_remapped_rows_failure",
        .labels = {},
        .value = [](Reading r) { return number(r.rows.failure); },
        .help = "Whether a row could not be replaced.",
    },
    ReadingColumn{
        .name = kBanks,
        .labels = {FixedLabel{"spare_rows", "max"}},
        .value = [](Reading r) { return number(r.rows.banks_max); },
        .help = "Memory banks by how many of their spare rows are left.",
    },
    ReadingColumn{
        .name = kBanks,
        .labels = {FixedLabel{"spare_rows", "high"}},
        .value = [](Reading r) { return number(r.rows.banks_high); },
    },
    ReadingColumn{
        .name = kBanks,
        .labels = {FixedLabel{"spare_rows", "partial"}},
        .value = [](Reading r) { return number(r.rows.banks_partial); },
    },
    ReadingColumn{
        .name = kBanks,
        .labels = {FixedLabel{"spare_rows", "low"}},
        .value = [](Reading r) { return number(r.rows.banks_low); },
    },
    ReadingColumn{
        .name = kBanks,
        .labels = {FixedLabel{"spare_rows", "none"}},
        .value = [](Reading r) { return number(r.rows.banks_none); },
    },
    ReadingColumn{
        .name = "gpuward_gpu_bad_pages",
        .labels = {},
        .value = [](Reading r) { return number(r.bad_pages); },
        .help = "AMD: pages of video memory taken out of use.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_memory_size_bytes",
        .labels = {},
        .value = [](Reading r) { return number(r.memory_total_bytes); },
        .help = "Size of the GPU's memory.",
    },
    ReadingColumn{
        .name = "gpuward_gpu_memory_used_bytes",
        .labels = {},
        .value = [](Reading r) { return number(r.memory_used_bytes); },
        .help = "How much of the GPU's memory is in use.",
    },
};

void append_ras(std::span<const LabelledReading> readings, Families& families) {
  Family ras{"gpuward_gpu_ras_errors_total",
             "AMD: errors of each hardware block since the driver was loaded.",
             kCounter,
             {}};
  for (const LabelledReading& one : readings) {
    for (const RasBlock& block : one.reading->ras) {
      const auto add = [&](const char* error, const Maybe<std::uint64_t>& count) {
        Labels labels = one.labels;
        labels.emplace_back("block", block.block);
        labels.emplace_back("error", error);
        append_sample(std::move(labels), number(count), ras);
      };
      add("corrected", block.corrected);
      add("uncorrected", block.uncorrected);
      add("deferred", block.deferred);
    }
  }
  families.push_back(std::move(ras));
}

}  // namespace

void append_gpu_memory_families(std::span<const LabelledReading> readings, Families& families) {
  append_columns(kEccColumns, readings, families);
  append_columns(kRepairColumns, readings, families);
  append_ras(readings, families);
}

}  // namespace gpuward::exporter
