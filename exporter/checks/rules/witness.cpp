#include "exporter/checks/rules/witness.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "exporter/checks/rules/second_source.h"

namespace gpuward::exporter {
namespace {

using enum Code;
using xid::Kind;

bool says_that_reset_helped(std::string_view code) {
  return code == "succeeded" || code == "ring_reset_succeeded";
}

bool is_of_device(const Finding& other, const Finding& finding) {
  // A switch, and a driver message without an address, belong to no single GPU.
  const bool is_of_any =
      finding.check == xid::to_string(Kind::kSxid) || finding.check == xid::to_string(Kind::kNvrm);
  return is_of_any || other.pci_bus_id.empty() || other.pci_bus_id == finding.pci_bus_id;
}

bool is_listed(const Finding& reading, const Witnesses* listed) {
  return listed != nullptr && std::ranges::any_of(listed->readings, [&](Code code) {
           return name_of(code) == reading.code && row_of(code).check == reading.check;
         });
}

bool is_as_severe(const Finding& reading, const Finding& finding) {
  return reading.severity >= finding.severity && !finding.pci_bus_id.empty() &&
         reading.pci_bus_id == finding.pci_bus_id;
}

// The longest time between a line and its witness.
constexpr std::chrono::minutes kNear{10};

bool is_near(WallTime one, WallTime other) {
  return one > other ? one - other <= kNear : other - one <= kNear;
}

// Returns whether the time of the reading lets it confirm the line. A reading that is new in this
// boot does. A reading below reset must have begun near the line. A worse one may be older, but its
// check must have seen it near the line or later.
bool is_of_time(const Finding& reading, const Finding& finding, const State& state) {
  const auto known =
      state.findings.find({reading.check, reading.code, reading.pci_bus_id, reading.evidence});
  const bool is_new = known == state.findings.end() || known->second.severity == Severity::kNone ||
                      known->second.last_boot_id != state.boot_id;
  if (is_new) return true;
  if (reading.severity < Severity::kReset && !is_near(known->second.first_seen, finding.last_seen))
    return false;
  return known->second.last_seen + kNear >= finding.last_seen;
}

// Returns the readings that are valid now: those of this run, and those of other checks in this
// boot.
std::vector<const Finding*> readings_of(const GpuRuleInput& input,
                                        std::span<const Finding> measured) {
  std::vector<const Finding*> readings;
  for (const Finding& finding : measured) readings.push_back(&finding);
  const State& state = input.snapshot.state;
  for (const auto& [key, finding] : state.findings) {
    const bool is_now = key.evidence == Evidence::kMeasured && key.check != kGpuCheck &&
                        key.check != kAnnouncementsCheck && !state.boot_id.empty() &&
                        finding.last_boot_id == state.boot_id;
    if (is_now && finding.severity != Severity::kNone) readings.push_back(&finding);
  }
  return readings;
}

// Returns a record of another kind than the finding that the kernel has marked with this GPU.
const Finding* marked_record(const Finding& finding, const Witnesses* listed, const State& state) {
  if (listed == nullptr) return nullptr;
  for (const Kind kind : listed->marked_records) {
    for (const auto& [key, other] : state.findings) {
      if (key.evidence == Evidence::kKernel && key.check == xid::to_string(kind) &&
          !finding.pci_bus_id.empty() && key.pci_bus_id == finding.pci_bus_id &&
          other.severity != Severity::kNone && other.last_boot_id == state.boot_id &&
          is_near(other.last_seen, finding.last_seen))
        return &other;
    }
  }
  return nullptr;
}

// Returns true if the device does not answer on the bus, or a board that was there is gone.
bool is_off_bus(const Finding& finding, const GpuRuleInput& input) {
  const bool was_there = input.facts.find(finding.pci_bus_id) != nullptr ||
                         input.snapshot.state.boards.contains(finding.pci_bus_id);
  return was_there && bus_says_gone(input, finding.pci_bus_id);
}

std::optional<std::string> witness_of(const Finding& finding, const GpuRuleInput& input,
                                      std::span<const Finding* const> readings) {
  const State& state = input.snapshot.state;
  const Witnesses* const listed = find_witnesses(finding.check, finding.code);
  const bool is_history = finding.history != Severity::kNone;
  for (const Finding* reading : readings) {
    // A reading below reset may be older than the line, or unrelated.
    if (is_history && reading->severity < Severity::kReset) continue;
    const bool says_so = is_listed(*reading, listed) ? is_of_device(*reading, finding)
                                                     : is_as_severe(*reading, finding);
    if (says_so && is_of_time(*reading, finding, state))
      return reading->check + " " + reading->code;
  }
  if (listed != nullptr && listed->by_bus && is_off_bus(finding, input)) return "PCI bus";
  const Finding* const record = is_history ? nullptr : marked_record(finding, listed, state);
  if (record != nullptr) return record->check + " " + record->code;
  return std::nullopt;
}

// Returns nullptr for a GPU that the driver does not answer for.
const GpuReading* answering_amd_gpu(const GpuTelemetry& telemetry, std::string_view bus_id) {
  const bool is_answering = telemetry.state == WorkerState::kAnswering && telemetry.report;
  const VendorReading* const amd = is_answering ? telemetry.report->find(Vendor::kAmd) : nullptr;
  const auto pci = parse_pci_address(bus_id);
  const GpuReading* const reading = amd != nullptr && pci ? amd->find(*pci) : nullptr;
  return reading != nullptr && !reading->is_lost && reading->fault.empty() ? reading : nullptr;
}

// Returns true if errors are counted and all are within thresholds that allow them. Counters
// without errors do not explain a line.
bool thresholds_allow(const std::vector<RasBlock>& blocks,
                      const std::map<std::string, std::uint64_t>& thresholds) {
  bool has_some = false;
  for (const RasBlock& block : blocks) {
    if (!block.uncorrected) return false;
    const auto limit = thresholds.find(block.block);
    if (*block.uncorrected > (limit == thresholds.end() ? 0 : limit->second)) return false;
    has_some |= *block.uncorrected > 0;
  }
  return has_some;
}

}  // namespace

std::span<const Witnesses> witness_table() {
  static const std::vector<Witnesses> kTable = {
      {Kind::kXid,
       {"79", "167"},
       {kGpuLost, kGpuLostUnconfirmed, kGpuUndriven, kGpuUndrivenUnconfirmed, kGpuMissing,
        kGpuMissingUnconfirmed, kGpuUnreadable, kDriverHung, kDriverHungUnconfirmed},
       {Kind::kAer},
       "a GPU that is off the bus answers neither the driver nor PCI (NVIDIA's Xid catalogue, 79)",
       true},
      {Kind::kXid,
       {"46", "62", "109", "110", "119", "120", "143", "158", "169"},
       {kDriverHung, kDriverHungUnconfirmed, kGpuUnreadable, kGpuLost, kGpuLostUnconfirmed,
        kGpuUndriven, kGpuUndrivenUnconfirmed},
       {},
       "a GPU that hangs, or whose firmware hangs, cannot be read in time (Xid catalogue, 119)"},
      {Kind::kXid,
       {"48", "95", "140", "156", "172"},
       {kEccUncorrected, kRetiredPagesDbe, kRetiredPagesPending, kRowRemapPending, kRowRemapFailure,
        kSramThreshold},
       {},
       "NVML counts the same errors (NVIDIA's GPU memory error management)"},
      {Kind::kXid,
       {"64"},
       {kRowRemapFailure, kRetiredPagesDbe, kRetiredPagesPending, kSramThreshold},
       {},
       "NVML says that no spare is left (NVIDIA's GPU memory error management)"},
      {Kind::kXid,
       {"54"},
       {kPowerBrake},
       {},
       "the power brake signal throttles such a board (Xid catalogue, 54)"},
      {Kind::kXid,
       {"74", "136", "149", "150", "155"},
       {kNvlinkInactive, kFabricNotReady, kFabricError, kFabricUnhealthy, kNvlinkAbsent,
        kNvlinkRecoveryErrors, kNvlinkCrcErrors},
       {},
       "NVML has the state and the error counters of each link (Xid catalogue, 74 and 149)"},
      {Kind::kSxid,
       {},
       {kNvlinkInactive, kFabricNotReady, kFabricError, kFabricUnhealthy, kNvlinkAbsent,
        kNvlinkRecoveryErrors, kNvlinkCrcErrors, kFabricManagerDown},
       {},
       "a failing NVSwitch takes down GPU links (NVIDIA's Fabric Manager guide)"},
      {Kind::kNvrm,
       {"reset_required"},
       {kResetRequired, kRecoveryActionReset, kRecoveryActionReboot},
       {},
       "NVML answers that a GPU must be reset (nvmlReturn_t, NVML_ERROR_RESET_REQUIRED)"},
      {Kind::kNvrm,
       {"gpu_lost"},
       {kGpuLost, kGpuLostUnconfirmed, kGpuUndriven, kGpuUndrivenUnconfirmed, kGpuMissing,
        kGpuMissingUnconfirmed},
       {},
       "a GPU that is off the bus answers neither the driver nor PCI (NVIDIA's Xid catalogue, 79)"},
      {Kind::kNvrm,
       {"uvm_fatal"},
       {kRecoveryActionReboot},
       {},
       "the driver then asks for a reboot by its recovery action (nvGpuOpsReportFatalError)"},
      {Kind::kAmdLost,
       {},
       {kGpuLost, kGpuLostUnconfirmed, kGpuUndriven, kGpuUndrivenUnconfirmed, kGpuMissing,
        kGpuMissingUnconfirmed, kGpuUnreadable},
       {Kind::kAer},
       "a GPU that is off the bus answers neither the driver nor PCI",
       true},
      {Kind::kAmdRas,
       {},
       {kRasUncorrected, kCperFatal},
       {},
       "amdgpu counts the same errors in sysfs (Linux, amdgpu RAS)"},
      {Kind::kAmdReset,
       {},
       {kGpuUnreadable, kDriverHung, kDriverHungUnconfirmed, kGpuLost, kGpuLostUnconfirmed},
       {Kind::kAmdHang},
       "a GPU that did not recover from a reset hung before the reset, or cannot be read after it"},
      {Kind::kAmdHang,
       {},
       {kGpuUnreadable, kDriverHung, kDriverHungUnconfirmed, kGpuLost, kGpuLostUnconfirmed},
       {Kind::kAmdReset},
       "amdgpu resets what hangs, and logs the reset in a separate line (Linux, amdgpu_job.c)"},
  };
  return kTable;
}

const Witnesses* find_witnesses(std::string_view check, std::string_view code) {
  const auto table = witness_table();
  const auto found = std::ranges::find_if(table, [&](const Witnesses& row) {
    return xid::to_string(row.kind) == check &&
           (row.codes.empty() || std::ranges::find(row.codes, code) != row.codes.end());
  });
  return found == table.end() ? nullptr : &*found;
}

std::vector<Witnessed> witnessed_findings(const GpuRuleInput& input,
                                          std::span<const Finding> measured) {
  const State& state = input.snapshot.state;
  const std::vector<const Finding*> readings = readings_of(input, measured);
  std::vector<Witnessed> witnessed;
  for (const auto& [key, known] : state.findings) {
    Finding finding = known;
    finding.severity = std::max(known.severity, known.history);
    // A line below reset needs no witness. For the reset that may follow an Xid 159, only the
    // driver's event counts (nvidia_smi_check.cpp); a reading below reset confirms nothing here.
    const bool is_open = key.evidence == Evidence::kKernel && !finding.is_of_earlier_boot &&
                         finding.witnessed < finding.severity &&
                         finding.severity >= Severity::kReset &&
                         finding.check != xid::to_string(Kind::kRule);
    if (!is_open) continue;
    if (auto by = witness_of(finding, input, readings))
      witnessed.push_back({finding.check, finding.code, finding.pci_bus_id, finding.severity, *by});
  }
  return witnessed;
}

std::vector<Recovered> recovered_gpus(const GpuRuleInput& input) {
  const GpuTelemetry& telemetry = input.snapshot.telemetry;
  std::vector<Recovered> recovered;
  for (const auto& [key, finding] : input.snapshot.state.findings) {
    if (key.evidence != Evidence::kKernel || key.check != xid::to_string(Kind::kAmdReset) ||
        !says_that_reset_helped(key.code))
      continue;
    const GpuReading* const reading = answering_amd_gpu(telemetry, key.pci_bus_id);
    const bool is_well = reading != nullptr && !reading->is_hung && reading->reset_required.empty();
    if (is_well && telemetry.read_at > finding.last_seen)
      recovered.push_back({key.code, key.pci_bus_id, finding.last_seen});
  }
  return recovered;
}

std::vector<AllowedErrors> allowed_errors(const GpuRuleInput& input) {
  const GpuTelemetry& telemetry = input.snapshot.telemetry;
  std::vector<AllowedErrors> allowed;
  for (const auto& [key, finding] : input.snapshot.state.findings) {
    if (key.evidence != Evidence::kKernel || key.check != xid::to_string(Kind::kAmdRas) ||
        key.code != "UE" || telemetry.read_at <= finding.last_seen)
      continue;
    const GpuReading* const reading = answering_amd_gpu(telemetry, key.pci_bus_id);
    if (reading != nullptr && thresholds_allow(reading->ras, input.settings.ras_thresholds)) {
      allowed.push_back({key.pci_bus_id, telemetry.read_at,
                         "the GPU's counters are within the GPU_ECC_UNCORRECT_* thresholds"});
    }
  }
  return allowed;
}

}  // namespace gpuward::exporter
