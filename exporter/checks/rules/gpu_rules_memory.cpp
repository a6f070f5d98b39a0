// Memory: ECC, retired pages, remapped rows, the SRAM limit, AMD's RAS blocks and error records.
#include <algorithm>
#include <string>

#include "core/runtime/clock.h"
#include "core/xid/event.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {
namespace {

// Returns the errors since the driver was loaded or the GPU reset. Some drivers report the places
// without the total.
std::uint64_t since_reset(const EccCounters::Places& places) {
  return std::max(places.total.value_or(0), places.sram.value_or(0) + places.dram.value_or(0));
}

// A value that the driver does not report now is not healthy because of that.
template <typename T>
void note_absent(const Maybe<T>& value, Code code, const std::string& bus_id, FindingList& found) {
  if (!value) found.cannot_tell(code, bus_id);
}

// A contained error (Xid 94) stops one program, which must restart. NVIDIA asks for a reset only if
// a row is still waiting to be remapped or the recovery action says so (NVIDIA's GPU memory error
// management). SRAM has no rows: rows that were remapped long ago say nothing about its errors. The
// driver reports all of it; log lines do not count here.
bool is_dealt_with(const GpuReading& reading, std::uint64_t errors) {
  const auto& sram = reading.ecc.uncorrected_volatile.sram;
  if (!sram || *sram != 0) return false;
  const RemappedRows& rows = reading.rows;
  const bool asks_for_nothing = reading.recovery_action && *reading.recovery_action == 0;
  const bool are_rows_done = rows.uncorrectable && *rows.uncorrectable >= errors &&
                             !rows.pending.value_or(false) && !rows.failure.value_or(false);
  return asks_for_nothing && are_rows_done;
}

void judge_ecc(const GpuReading& reading, const CheckSettings& settings, const std::string& bus_id,
               FindingList& found) {
  if (reading.ecc_enabled && !*reading.ecc_enabled) return;
  const EccCounters::Places& places = reading.ecc.uncorrected_volatile;
  if (!places.total && !places.sram && !places.dram) {
    return found.cannot_tell(Code::kEccUncorrected, bus_id);
  }
  const std::uint64_t errors = since_reset(places);
  if (errors == 0) return;
  const std::string line = std::to_string(errors) + " uncorrected ECC errors since the last reset";
  if (!settings.is_seed_profile && is_dealt_with(reading, errors)) {
    found.add_as(Code::kEccUncorrected, Severity::kMonitor, bus_id, line,
                 "the driver has remapped the rows and requests no further action");
  } else {
    found.add(Code::kEccUncorrected, bus_id, line);
  }
}

// A single corrected error costs nothing, but a GB200 with some 10,000 of them a second stalled its
// driver until it was replaced (github.com/NVIDIA/NVSentinel issue 1748). No vendor gives a limit.
constexpr std::uint64_t kCorrectedFlood = 1'000'000;
// The value that a faulty AMD driver adds to a counter at every query (core/xid/catalogue.cpp).
constexpr std::uint64_t kAmdCounterFault = 1'048'560;

void judge_corrected(std::uint64_t errors, const std::string& where, const std::string& bus_id,
                     FindingList& found) {
  if (errors <= kCorrectedFlood) return;
  found.add(Code::kEccCorrectedFlood, bus_id,
            where + std::to_string(errors) + " corrected ECC errors since the last reset");
}

void judge_ecc_mode(const GpuReading& reading, const std::string& bus_id, FindingList& found) {
  note_absent(reading.ecc_enabled, Code::kEccOff, bus_id, found);
  note_absent(reading.ecc_pending, Code::kEccPending, bus_id, found);
  if (!reading.ecc_enabled) return;
  const bool is_on = *reading.ecc_enabled;
  // If the driver does not report the factory default, assume that of a data centre board.
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
    found.add(Code::kRetiredPagesPending, bus_id, "pages are pending retirement");
  }
  if (retired.single_bit.value_or(0) > most_single_bit) {
    found.add(Code::kRetiredPagesSbe, bus_id,
              std::to_string(*retired.single_bit) +
                  " pages retired for single-bit errors; the limit is " +
                  std::to_string(most_single_bit));
  }
}

void judge_rows(const RemappedRows& rows, const std::string& bus_id, FindingList& found) {
  note_absent(rows.pending, Code::kRowRemapPending, bus_id, found);
  if (rows.pending.value_or(false)) {
    found.add(Code::kRowRemapPending, bus_id, "a row remap is pending");
  }
  if (rows.failure.value_or(false)) {
    found.add(Code::kRowRemapFailure, bus_id, "a row remap failed");
  }
}

// Returns true if check "gpu" found this on the GPU in an earlier boot.
bool was_there_before_the_reboot(const State& state, Code code, const std::string& bus_id) {
  const auto known = state.findings.find(
      {std::string(kGpuCheck), std::string(name_of(code)), bus_id, Evidence::kMeasured});
  return known != state.findings.end() && !known->second.first_boot_id.empty() &&
         known->second.first_boot_id != state.boot_id;
}

// AMD reboots a node with such errors, validates it and returns it; a board whose errors are back
// after that is replaced (AMD GPU Operator, docs/autoremediation: reboot, test, wait for the
// condition to clear, else leave the node out of service). The driver's counters start at 0 with
// each boot.
void judge_ras(const GpuReading& reading, const GpuRuleInput& input, const std::string& bus_id,
               FindingList& found) {
  const auto& thresholds = input.settings.ras_thresholds;
  // A GPU whose errors could not be counted keeps its finding.
  const bool are_counted = std::ranges::any_of(
      reading.ras, [](const RasBlock& block) { return block.uncorrected.has_value(); });
  if (!are_counted) found.cannot_tell(Code::kRasUncorrected, bus_id);
  const bool is_back =
      was_there_before_the_reboot(input.snapshot.state, Code::kRasUncorrected, bus_id);
  for (const RasBlock& block : reading.ras) {
    const std::uint64_t corrected = block.corrected.value_or(0);
    if (corrected % kAmdCounterFault != 0)
      judge_corrected(corrected, block.block + ": ", bus_id, found);
    const auto limit = thresholds.find(block.block);
    const std::uint64_t most = limit == thresholds.end() ? 0 : limit->second;
    if (block.uncorrected.value_or(0) <= most) continue;
    const std::string line = block.block + ": " + std::to_string(*block.uncorrected) +
                             " uncorrectable errors; the threshold is " + std::to_string(most);
    if (is_back) {
      found.add_as(Code::kRasUncorrected, Severity::kIsolate, bus_id, line,
                   "a reboot did not fix the problem");
    } else {
      found.add(Code::kRasUncorrected, bus_id, line);
    }
  }
}

bool kernel_has_ras_error(const GpuRuleInput& input, const std::string& bus_id) {
  return std::ranges::any_of(input.snapshot.state.findings, [&](const auto& entry) {
    const Finding& finding = entry.second;
    return finding.check == xid::to_string(xid::Kind::kAmdRas) &&
           finding.evidence == Evidence::kKernel && finding.pci_bus_id == bus_id &&
           !finding.is_of_earlier_boot &&
           std::max(finding.severity, finding.history) >= Severity::kReset;
  });
}

// A record without a time cannot be proved to be old. Only the boot distinguishes it from a record
// with the same number in another boot.
std::string cper_event(const CperRecord& record, const State& state) {
  const std::string when =
      record.recorded_at ? to_rfc3339(*record.recorded_at) : "boot " + state.boot_id;
  return when + " " + record.id;
}

std::string cper_line(const CperRecord& record) {
  std::string line = "fatal error record " + record.id;
  line += record.recorded_at ? " of " + to_rfc3339(*record.recorded_at) : " without a time";
  if (!record.notify_type.empty()) line += " (" + record.notify_type + ")";
  for (std::size_t i = 0; i < record.afids.size(); ++i)
    line += (i == 0 ? ", AFID " : ", ") + std::to_string(record.afids[i]);
  return line;
}

// The driver keeps a record until it is reloaded. A record that an operator has cleared is not a
// new event.
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
  // The driver writes a fatal record for each error that could not be corrected, and for too many
  // bad pages. Some versions also write one for healthy GPUs
  // (github.com/ROCm/device-metrics-exporter issue 506: 6.16.13).
  const auto has_error = [](const RasBlock& block) { return block.uncorrected.value_or(0) != 0; };
  const auto is_known = [](const RasBlock& block) { return block.uncorrected.has_value(); };
  if (std::ranges::any_of(reading.ras, has_error) || kernel_has_ras_error(input, bus_id)) {
    found.add(Code::kCperFatal, bus_id, cper_line(record));
  } else if (std::ranges::any_of(reading.ras, is_known)) {
    found.add_as(Code::kCperFatal, Severity::kMonitor, bus_id, cper_line(record),
                 "neither the GPU's own counters nor the kernel log shows such an error");
  } else {
    found.cannot_tell(Code::kCperFatal, bus_id);
    found.add_as(Code::kCperFatal, Severity::kMonitor, bus_id, cper_line(record),
                 "the GPU's own counters cannot be read, and the kernel log shows no such error");
  }
  found.name_event(Code::kCperFatal, bus_id, event);
}

}  // namespace

void judge_memory(const GpuReading& reading, const GpuRuleInput& input, FindingList& found) {
  const std::string bus_id = reading.gpu.pci.bus_id();
  if (reading.gpu.vendor == Vendor::kAmd) {
    judge_ras(reading, input, bus_id, found);
    judge_cper(reading, input, bus_id, found);
    return;
  }
  judge_ecc(reading, input.settings, bus_id, found);
  judge_corrected(since_reset(reading.ecc.corrected_volatile), "", bus_id, found);
  judge_ecc_mode(reading, bus_id, found);
  judge_retired(reading.retired, input.settings.max_retired_pages_sbe, bus_id, found);
  judge_rows(reading.rows, bus_id, found);
  note_absent(reading.sram_threshold_exceeded, Code::kSramThreshold, bus_id, found);
  if (reading.sram_threshold_exceeded.value_or(false)) {
    found.add(Code::kSramThreshold, bus_id, "the SRAM error threshold is exceeded");
  }
}

}  // namespace gpuward::exporter
