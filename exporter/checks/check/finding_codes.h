// Every code that the native checks can find: its severity, what clears it, and its meaning. The
// rules and docs/checks.md (a test compares them) share this table. Pure data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/model/finding.h"
#include "core/model/severity.h"

namespace gpuward::exporter {

// In the order of the table.
enum class Code : std::uint8_t {
  kEccUncorrected,
  kEccCorrectedFlood,
  kRetiredPagesDbe,
  kRetiredPagesPending,
  kRetiredPagesSbe,
  kRowRemapPending,
  kRowRemapFailure,
  kSramThreshold,
  kEccOff,
  kEccPending,
  kRasUncorrected,
  kCperFatal,
  kRecoveryActionReset,
  kRecoveryActionReboot,
  kResetRequired,
  kRecoveryActionImex,
  kPersistenceOff,
  kGpuUnreadable,
  kThermalSlowdown,
  kHwSlowdown,
  kPowerBrake,
  kPcieWidth,
  kPcieGeneration,
  kPcieReplays,
  kNvlinkInactive,
  kFabricNotReady,
  kFabricError,
  kFabricUnhealthy,
  kGpuLost,
  kGpuLostUnconfirmed,
  kGpuUndriven,
  kGpuUndrivenUnconfirmed,
  kGpuMissing,
  kGpuMissingUnconfirmed,
  kGpuExtra,
  kDriverHung,
  kDriverHungUnconfirmed,
  kLibraryUnusable,
  kWorkerCrashed,
  kEventsHung,
  kXid159Uvm,
  kEfaCount,
  kEfaExtra,
  kEfaRdmaMissing,
  kEfaUverbsMissing,
  kEfaModuleMissing,
  kEfaProviderMissing,
  kGdrcopyFailed,
  kMemlockLow,
  kNvlinkAbsent,
  kTopologyBroken,
  kP2pUnsupported,
  kFabricManagerDown,
  kFabricManagerDownCompleted,
  kNvlinkRecoveryErrors,
  kNvlinkCrcErrors,
  kNcclWrongValues,
  kNcclWrongValuesUnattributed,
  kNcclHardwareError,
  kNcclFailed,
  kNcclSlow,
  kNcclNoEfa,
  kNcclSubTest,
  kEfaAbsent,
  kEfaAbsentUnconfirmed,
  kEfaLoopbackFailed,
  kEfaLoopbackSlow,
  kEfaLoopbackDrops,
  kAnnouncedRebalance,
  kAnnouncedFreeze,
  kAnnouncedReboot,
  kAnnouncedRedeploy,
  kAnnouncedTerminate,
  kLast = kAnnouncedTerminate,
};

struct FindingCode {
  Code id = Code::kLast;
  std::string_view check;  // the check that finds it: "gpu", "2-efa-enumeration"
  std::string_view code;
  Severity severity = Severity::kMonitor;
  Severity seed_severity = Severity::kMonitor;  // with the seed profile
  ClearedBy cleared_by = ClearedBy::kCheck;
  std::string_view meaning;  // becomes Finding::why
};

// The check name of the rules on GPU readings, for their result and findings.
inline constexpr std::string_view kGpuCheck = "gpu";
// The name of check 0, which also reports on the findings of those rules.
inline constexpr std::string_view kNvidiaSmiCheck = "0-nvidia-smi";
// The check name of the cloud's announcements. They say nothing about the health of the node.
inline constexpr std::string_view kAnnouncementsCheck = "announcements";

[[nodiscard]] std::span<const FindingCode> finding_codes();

[[nodiscard]] const FindingCode& row_of(Code code);
// Returns the name in findings and metrics: "gpu_lost".
[[nodiscard]] inline std::string_view name_of(Code code) { return row_of(code).code; }
// Returns whether `name` is the name of one of `codes`.
[[nodiscard]] bool is_any_of(std::string_view name, std::span<const Code> codes);

}  // namespace gpuward::exporter
