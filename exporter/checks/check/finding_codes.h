// Every code that the native checks can find: how severe it is, what clears it, what it means. One
// table for the rules, for docs/checks.md (a test compares) and for whoever wonders. Pure data.
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
  std::string_view check;  // who finds it: "gpu", "2-efa-enumeration"
  std::string_view code;
  Severity severity = Severity::kMonitor;
  Severity seed_severity = Severity::kMonitor;  // with the seed profile
  ClearedBy cleared_by = ClearedBy::kCheck;
  std::string_view meaning;  // becomes Finding::why
};

// The name under which the rules on GPU readings keep their result and findings.
inline constexpr std::string_view kGpuCheck = "gpu";
// That of check 0, which speaks for them too.
inline constexpr std::string_view kNvidiaSmiCheck = "0-nvidia-smi";
// That of what the cloud announces. It says nothing of how the node is.
inline constexpr std::string_view kAnnouncementsCheck = "announcements";

[[nodiscard]] std::span<const FindingCode> finding_codes();

[[nodiscard]] const FindingCode& row_of(Code code);
// As findings and metrics have it: "gpu_lost".
[[nodiscard]] inline std::string_view name_of(Code code) { return row_of(code).code; }
// Whether that is the name of one of these.
[[nodiscard]] bool is_any_of(std::string_view name, std::span<const Code> codes);

}  // namespace gpuward::exporter
