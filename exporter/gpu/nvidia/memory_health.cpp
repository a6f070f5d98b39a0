#include "exporter/gpu/nvidia/readings.h"

namespace gpuward::exporter::nvml {
namespace {

Maybe<std::uint64_t> errors_in(DeviceQuery& query, I32 type, I32 since, I32 location) {
  std::uint64_t raw = 0;
  if (!query.tells(query.symbols().memory_errors, type, since, location, &raw)) return std::nullopt;
  return number_from(raw);
}

EccCounters::Places read_places(DeviceQuery& query, I32 type, I32 since) {
  EccCounters::Places places;
  std::uint64_t total = 0;
  if (query.tells(query.symbols().total_ecc, type, since, &total)) {
    places.total = number_from(total);
  }
  places.sram = errors_in(query, type, since, kLocationSram);
  places.dram = errors_in(query, type, since, kLocationDram);
  return places;
}

void read_sram(DeviceQuery& query, GpuReading& reading) {
  SramStatus status{};
  status.version = version_word<SramStatus>(1);
  if (!query.tells(query.symbols().sram_status, &status)) return;
  reading.sram_unc_parity = number_from(status.aggregate_parity);
  reading.sram_unc_secded = number_from(status.aggregate_secded);
  reading.sram_threshold_exceeded = claim_from(status.threshold_exceeded);
}

// Reads only the number: without a buffer NVML returns the required size.
Maybe<std::uint64_t> count_pages(DeviceQuery& query, I32 cause) {
  std::uint32_t count = 0;
  const ReturnCode code = query.ask(query.symbols().retired_pages, cause, &count, nullptr);
  if (code != kSuccess && code != kInsufficientSize) return std::nullopt;
  const auto pages = number_from(count);
  if (!pages) return std::nullopt;
  return *pages;
}

}  // namespace

void read_ecc(DeviceQuery& query, KnownDevice& known, GpuReading& reading) {
  std::uint32_t current = 0, pending = 0;
  if (query.tells(query.symbols().ecc_mode, &current, &pending)) {
    reading.ecc_enabled = claim_from(current);
    reading.ecc_pending = claim_from(pending);
  }
  reading.ecc_default =
      query.is_thorough() ? query.claim(query.symbols().ecc_default) : known.rare->ecc_default;
  EccCounters& ecc = reading.ecc;
  ecc.corrected_volatile = read_places(query, kErrorCorrected, kCounterVolatile);
  ecc.uncorrected_volatile = read_places(query, kErrorUncorrected, kCounterVolatile);
  ecc.corrected_aggregate = read_places(query, kErrorCorrected, kCounterAggregate);
  ecc.uncorrected_aggregate = read_places(query, kErrorUncorrected, kCounterAggregate);
  read_sram(query, reading);
}

void read_retired_pages(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  reading.retired.single_bit = count_pages(query, kCauseSingleBit);
  reading.retired.double_bit = count_pages(query, kCauseDoubleBit);
  reading.retired.pending = query.claim(query.symbols().retired_pending);
}

void read_remapped_rows(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  const Symbols& nvml = query.symbols();
  RemappedRows& rows = reading.rows;
  std::uint32_t correctable = 0, uncorrectable = 0, pending = 0, failure = 0;
  if (query.tells(nvml.remapped_rows, &correctable, &uncorrectable, &pending, &failure)) {
    rows.correctable = number_from(correctable);
    rows.uncorrectable = number_from(uncorrectable);
    rows.pending = claim_from(pending);
    rows.failure = claim_from(failure);
  }
  RowHistogram banks{};
  if (query.tells(nvml.row_histogram, &banks)) {
    rows.banks_max = number_from(banks.max);
    rows.banks_high = number_from(banks.high);
    rows.banks_partial = number_from(banks.partial);
    rows.banks_low = number_from(banks.low);
    rows.banks_none = number_from(banks.none);
  }
}

void read_memory(DeviceQuery& query, KnownDevice&, GpuReading& reading) {
  MemoryV2 newer{};
  newer.version = version_word<MemoryV2>(2);
  if (query.tells(query.symbols().memory_v2, &newer)) {
    reading.memory_total_bytes = number_from(newer.total);
    reading.memory_used_bytes = number_from(newer.used);
    reading.memory_free_bytes = number_from(newer.free);
    return;
  }
  Memory older{};
  if (!query.tells(query.symbols().memory, &older)) return;
  reading.memory_total_bytes = number_from(older.total);
  reading.memory_used_bytes = number_from(older.used);
  reading.memory_free_bytes = number_from(older.free);
}

}  // namespace gpuward::exporter::nvml
