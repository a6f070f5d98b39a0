#include <array>

#include "exporter/publish/families_gpu.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;
using Reading = const GpuReading&;

constexpr auto kEccColumns = std::to_array<ReadingColumn>({
    {.family = {"gpuward_gpu_ecc_errors_total",
                "ECC errors, `corrected` or `uncorrected`. `counter=\"volatile\"` starts again at "
                "0 when the driver is loaded or the GPU is reset; `aggregate` counts over the life "
                "of the board.",
                kCounter,
                {"error", "counter"}},
     .labels = {"corrected", "volatile"},
     .value = [](Reading r) { return number(r.ecc.corrected_volatile.total); }},
    {.labels = {"uncorrected", "volatile"},
     .value = [](Reading r) { return number(r.ecc.uncorrected_volatile.total); }},
    {.labels = {"corrected", "aggregate"},
     .value = [](Reading r) { return number(r.ecc.corrected_aggregate.total); }},
    {.labels = {"uncorrected", "aggregate"},
     .value = [](Reading r) { return number(r.ecc.uncorrected_aggregate.total); }},
    {.family = {"gpuward_gpu_ecc_memory_errors_total",
                "ECC errors by type of memory: `sram` or `dram`. Do not add them to "
                "`gpuward_gpu_ecc_errors_total`.",
                kCounter,
                {"error", "counter", "memory"}},
     .labels = {"corrected", "volatile", "sram"},
     .value = [](Reading r) { return number(r.ecc.corrected_volatile.sram); }},
    {.labels = {"corrected", "volatile", "dram"},
     .value = [](Reading r) { return number(r.ecc.corrected_volatile.dram); }},
    {.labels = {"uncorrected", "volatile", "sram"},
     .value = [](Reading r) { return number(r.ecc.uncorrected_volatile.sram); }},
    {.labels = {"uncorrected", "volatile", "dram"},
     .value = [](Reading r) { return number(r.ecc.uncorrected_volatile.dram); }},
    {.labels = {"corrected", "aggregate", "sram"},
     .value = [](Reading r) { return number(r.ecc.corrected_aggregate.sram); }},
    {.labels = {"corrected", "aggregate", "dram"},
     .value = [](Reading r) { return number(r.ecc.corrected_aggregate.dram); }},
    {.labels = {"uncorrected", "aggregate", "sram"},
     .value = [](Reading r) { return number(r.ecc.uncorrected_aggregate.sram); }},
    {.labels = {"uncorrected", "aggregate", "dram"},
     .value = [](Reading r) { return number(r.ecc.uncorrected_aggregate.dram); }},
    {.family = {"gpuward_gpu_sram_uncorrectable_errors_total",
                "Uncorrectable SRAM errors over the life of the board, by how they were detected: "
                "`parity` or `secded`.",
                kCounter,
                {"protection"}},
     .labels = {"parity"},
     .value = [](Reading r) { return number(r.sram_unc_parity); }},
    {.labels = {"secded"}, .value = [](Reading r) { return number(r.sram_unc_secded); }},
    {.family = {"gpuward_gpu_sram_threshold_exceeded",
                "Whether SRAM errors exceeded the board's limit. If 1, replace the board."},
     .value = [](Reading r) { return number(r.sram_threshold_exceeded); }},
});

// These counts only grow during the life of a board, but they are gauges, because the value matters
// and another board in the slot starts at its own value.
constexpr auto kRepairColumns = std::to_array<ReadingColumn>({
    {.family = {"gpuward_gpu_retired_pages",
                "Boards before Ampere: pages taken out of use after `single_bit` or `double_bit` "
                "errors.",
                kGauge,
                {"error"}},
     .labels = {"single_bit"},
     .value = [](Reading r) { return number(r.retired.single_bit); }},
    {.labels = {"double_bit"}, .value = [](Reading r) { return number(r.retired.double_bit); }},
    {.family = {"gpuward_gpu_retired_pages_pending",
                "Whether a memory page needs a reboot before the driver can retire it."},
     .value = [](Reading r) { return number(r.retired.pending); }},
    {.family = {"gpuward_gpu_remapped_rows",
                "Ampere and later: rows replaced by spare ones after `corrected` or `uncorrected` "
                "errors.",
                kGauge,
                {"error"}},
     .labels = {"corrected"},
     .value = [](Reading r) { return number(r.rows.correctable); }},
    {.labels = {"uncorrected"}, .value = [](Reading r) { return number(r.rows.uncorrectable); }},
    {.family = {"gpuward_gpu_remapped_rows_pending",
                "Whether a row remap is pending until the next GPU reset."},
     .value = [](Reading r) { return number(r.rows.pending); }},
    {.family = {"gpuward_gpu_remapped_rows_failure",
                "Whether a row could not be remapped. If 1, replace the board."},
     .value = [](Reading r) { return number(r.rows.failure); }},
    {.family = {"gpuward_gpu_remapped_rows_banks",
                "Number of memory banks, by how many spare rows they have left: `max`, `high`, "
                "`partial`, `low`, `none`.",
                kGauge,
                {"spare_rows"}},
     .labels = {"max"},
     .value = [](Reading r) { return number(r.rows.banks_max); }},
    {.labels = {"high"}, .value = [](Reading r) { return number(r.rows.banks_high); }},
    {.labels = {"partial"}, .value = [](Reading r) { return number(r.rows.banks_partial); }},
    {.labels = {"low"}, .value = [](Reading r) { return number(r.rows.banks_low); }},
    {.labels = {"none"}, .value = [](Reading r) { return number(r.rows.banks_none); }},
    {.family = {"gpuward_gpu_bad_pages", "AMD: retired pages of GPU memory."},
     .value = [](Reading r) { return number(r.bad_pages); }},
    {.family = {"gpuward_gpu_memory_size_bytes", "Size of the GPU's memory."},
     .value = [](Reading r) { return number(r.memory_total_bytes); }},
    {.family = {"gpuward_gpu_memory_used_bytes", "How much of the GPU's memory is in use."},
     .value = [](Reading r) { return number(r.memory_used_bytes); }},
});

void append_ras(const LabelledReadings& readings, Families& families) {
  auto& ras = declare(families, {"gpuward_gpu_ras_errors_total",
                                 "AMD: errors per hardware block since the driver was loaded: "
                                 "`corrected`, `uncorrected`, `deferred`.",
                                 kCounter,
                                 {"gpu", "uuid", "pci_bus_id", "block", "error"},
                                 kDriverIsSilent});
  for (const LabelledReading& one : readings.gpus) {
    for (const RasBlock& block : one.reading->ras) {
      ras.add(one.labels, {block.block, "corrected"}, number(block.corrected));
      ras.add(one.labels, {block.block, "uncorrected"}, number(block.uncorrected));
      ras.add(one.labels, {block.block, "deferred"}, number(block.deferred));
    }
  }
}

}  // namespace

void append_gpu_memory_families(const LabelledReadings& readings, Families& families) {
  append_columns(kEccColumns, readings, families);
  append_columns(kRepairColumns, readings, families);
  append_ras(readings, families);
}

}  // namespace gpuward::exporter
