// Memory: ECC, retired pages, remapped rows, the SRAM limit, AMD's RAS blocks and error records.
#include <algorithm>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {
namespace {

// Uncorrected errors since the driver was loaded or the GPU reset. The places may be reported
// without the total.
std::uint64_t uncorrected_since_reset(const EccCounters::Places& places) {
  return std::max(places.total.value_or(0), places.sram.value_or(0) + places.dram.value_or(0));
}

// What the driver does not say now is not healthy because of that.
template <typename T>
void note_absent(const Maybe<T>& value, Code code, const std::string& bus_id, FindingList& found) {
  if (!value) found.cannot_tell(code, bus_id);
}

void judge_ecc(const GpuReading& reading, const std::string& bus_id, FindingList& found) {
  if (reading.ecc_enabled && !*reading.ecc_enabled) return;
  const EccCounters::Places& places = reading.ecc.uncorrected_volatile;
  if (!places.total && !places.sram && !places.dram) {
    return found.cannot_tell(Code::kEccUncorrected, bus_id);
  }
  if (const auto errors = uncorrected_since_reset(places)) {
    found.add(Code::kEccUncorrected, bus_id,
              std::to_string(errors) + " uncorrected ECC errors since the last reset");
  }
}

void judge_ecc_mode(const GpuReading& reading, const std::string& bus_id, FindingList& found) {
  note_absent(reading.ecc_enabled, Code::kEccOff, bus_id, found);
  note_absent(reading.ecc_pending, Code::kEccPending, bus_id, found);
  if (!reading.ecc_enabled) return;
  const bool is_on = *reading.ecc_enabled;
  // Where the driver does not say how the board leaves its factory, as of one of a data centre.
  const bool is_meant_on = reading.ecc_default.value_or(true);
  if (!is_on && is_meant_on) found.add(Code::kEccOff, bus_id, "ECC is off");
  if (reading.ecc_pending.value_or(is_on) == is_on) return;
  found.add(Code::kEccPending, bus_id,
            is_on ? "ECC is on and will be off after a reboot"
                  : "ECC is off and will be on after a reboot");
}

void judge_retired(const RetiredPages& retired, std::uint64_t most_single_bit,
                   const std::string& bus_id, FindingList& found) {
  note_absent(retired.double_bit, Code::kRetiredPagesDbe, bus_id, found);
  note_absent(retired.pending, Code::kRetiredPagesPending, bus_id, found);
  note_absent(retired.single_bit, Code::kRetiredPagesSbe, bus_id, found);
  if (retired.double_bit.value_or(0) > 0) {
    found.add(Code::kRetiredPagesDbe, bus_id,
              std::to_string(*retired.double_bit) + " pages retired for double-bit errors");
  }
  if (retired.pending.value_or(false)) {
    found.add(Code::kRetiredPagesPending, bus_id, "pages wait to be retired");
  }
  if (retired.single_bit.value_or(0) > most_single_bit) {
    found.add(Code::kRetiredPagesSbe, bus_id,
              std::to_string(*retired.single_bit) + " pages retired for single-bit errors; over " +
                  std::to_string(most_single_bit));
  }
}

void judge_rows(const RemappedRows& rows, const std::string& bus_id, FindingList& found) {
  note_absent(rows.pending, Code::kRowRemapPending, bus_id, found);
  if (rows.pending.value_or(false)) {
    found.add(Code::kRowRemapPending, bus_id, "a row waits to be remapped");
  }
  if (rows.failure.value_or(false)) {
    found.add(Code::kRowRemapFailure, bus_id, "remapping a row has failed");
  }
}

void judge_ras(const GpuReading& reading, const CheckSettings& settings, const std::string& bus_id,
               FindingList& found) {
  for (const RasBlock& block : reading.ras) {
    const auto limit = settings.ras_thresholds.find(block.block);
    const std::uint64_t most = limit == settings.ras_thresholds.end() ? 0 : limit->second;
    if (block.uncorrected.value_or(0) <= most) continue;
    found.add(Code::kRasUncorrected, bus_id,
              block.block + ": " + std::to_string(*block.uncorrected) +
                  " uncorrectable errors; over " + std::to_string(most));
  }
}

// A record without a time cannot be proved to be old. Nor can it be distinguished from one with the
// same number after another boot, but by that boot.
std::string cper_event(const CperRecord& record, const State& state) {
  const std::string when =
      record.recorded_at ? to_rfc3339(*record.recorded_at) : "boot " + state.boot_id;
  return when + " " + record.id;
}

std::string cper_line(const CperRecord& record) {
  std::string line = "fatal error record " + record.id;
  line += record.recorded_at ? " of " + to_rfc3339(*record.recorded_at) : " without a time";
  return record.notify_type.empty() ? line : line + " (" + record.notify_type + ")";
}

// The driver keeps a record until it is loaded anew: one that a person has cleared says nothing
// new.
void judge_cper(const GpuReading& reading, const GpuRuleInput& input, const std::string& bus_id,
                FindingList& found) {
  if (!reading.latest_cper || reading.latest_cper->severity != CperSeverity::kFatal) return;
  const CperRecord& record = *reading.latest_cper;
  const auto most = input.settings.cper_max_age;
  const bool has_age = most.count() > 0 && record.recorded_at.has_value();
  if (has_age && input.now - *record.recorded_at > most) return;
  const State& state = input.snapshot.state;
  const std::string event = cper_event(record, state);
  const auto settled =
      state.settled.find({std::string(kGpuCheck), std::string(name_of(Code::kCperFatal)), bus_id,
                          Evidence::kMeasured});
  if (settled != state.settled.end() && settled->second == event) return;
  found.add_event(Code::kCperFatal, bus_id, cper_line(record), event);
}

}  // namespace

void judge_memory(const GpuReading& reading, const GpuRuleInput& input, FindingList& found) {
  const std::string bus_id = reading.gpu.pci.bus_id();
  if (reading.gpu.vendor == Vendor::kAmd) {
    judge_ras(reading, input.settings, bus_id, found);
    judge_cper(reading, input, bus_id, found);
    return;
  }
  judge_ecc(reading, bus_id, found);
  judge_ecc_mode(reading, bus_id, found);
  judge_retired(reading.retired, input.settings.max_retired_pages_sbe, bus_id, found);
  judge_rows(reading.rows, bus_id, found);
  note_absent(reading.sram_threshold_exceeded, Code::kSramThreshold, bus_id, found);
  if (reading.sram_threshold_exceeded.value_or(false)) {
    found.add(Code::kSramThreshold, bus_id, "the SRAM error threshold is exceeded");
  }
}

}  // namespace gpuward::exporter
