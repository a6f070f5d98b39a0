#include "exporter/checks/check/finding_codes.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

using enum Severity;

constexpr std::string_view kEfa = "2-efa-enumeration";
constexpr std::string_view kTopology = "3-topology-check";
constexpr std::string_view kNccl = "5-nccl-allreduce";
constexpr std::string_view kEfaLoopback = "6-efa-loopback";
constexpr ClearedBy kByCheck = ClearedBy::kCheck;
constexpr ClearedBy kByOperator = ClearedBy::kOperator;
constexpr ClearedBy kByReset = ClearedBy::kGpuReset;
constexpr ClearedBy kByReboot = ClearedBy::kReboot;

constexpr FindingCode kCodes[] = {
    // Memory.
    {Code::kEccUncorrected, kGpuCheck, "ecc_uncorrected", kReset, kReset, kByCheck,
     "uncorrectable memory errors; a GPU reset resets the driver's counter"},
    {Code::kEccCorrectedFlood, kGpuCheck, "ecc_corrected_flood", kMonitor, kMonitor, kByCheck,
     "more than a million memory errors were corrected since the last reset: the memory is "
     "failing, and correcting the errors slows the GPU"},
    {Code::kRetiredPagesDbe, kGpuCheck, "retired_pages_dbe", kIsolate, kIsolate, kByCheck,
     "pages retired for double-bit errors: the board's memory is failing"},
    {Code::kRetiredPagesPending, kGpuCheck, "retired_pages_pending", kReboot, kReboot, kByCheck,
     "pages are pending retirement until the driver is reloaded"},
    {Code::kRetiredPagesSbe, kGpuCheck, "retired_pages_sbe", kMonitor, kMonitor, kByCheck,
     "many pages retired for single-bit errors"},
    {Code::kRowRemapPending, kGpuCheck, "row_remap_pending", kReset, kReset, kByCheck,
     "a faulty row is replaced by a spare one at the next GPU reset"},
    {Code::kRowRemapFailure, kGpuCheck, "row_remap_failure", kIsolate, kIsolate, kByOperator,
     "a faulty row could not be replaced: no spare row is left"},
    {Code::kSramThreshold, kGpuCheck, "sram_threshold", kIsolate, kIsolate, kByCheck,
     "the driver reports that SRAM errors exceeded the threshold for replacing the board"},
    {Code::kEccOff, kGpuCheck, "ecc_off", kMonitor, kMonitor, kByCheck,
     "ECC is off: memory errors are neither corrected nor counted"},
    {Code::kEccPending, kGpuCheck, "ecc_pending", kMonitor, kMonitor, kByCheck,
     "ECC was switched on or off; the change takes effect at the next reboot"},
    {Code::kRasUncorrected, kGpuCheck, "ras_uncorrected", kReboot, kIsolate, kByCheck,
     "an AMD block has more uncorrectable errors than its threshold allows: AMD's guidance is to "
     "reboot the node, and to replace the board if the errors return"},
    {Code::kCperFatal, kGpuCheck, "cper_fatal", kReboot, kIsolate, kByReboot,
     "the latest error record (CPER) of an AMD GPU is fatal"},
    // States that the driver reports about itself.
    {Code::kRecoveryActionReset, kGpuCheck, "recovery_action_reset", kReset, kReset, kByCheck,
     "the driver asks for a GPU reset"},
    {Code::kRecoveryActionReboot, kGpuCheck, "recovery_action_reboot", kReboot, kReboot, kByCheck,
     "the driver asks for a reboot of the node"},
    {Code::kResetRequired, kGpuCheck, "reset_required", kReset, kReset, kByCheck,
     "the driver reports that the GPU must be reset before it can be used again"},
    {Code::kRecoveryActionImex, kGpuCheck, "recovery_action_imex", kMonitor, kMonitor, kByCheck,
     "the driver asks for a recovery of the IMEX domain"},
    {Code::kPersistenceOff, kGpuCheck, "persistence_off", kMonitor, kMonitor, kByCheck,
     "without persistence mode the driver unloads the GPU's state between jobs"},
    {Code::kGpuUnreadable, kGpuCheck, "gpu_unreadable", kMonitor, kMonitor, kByCheck,
     "the driver reports nothing about this GPU: its health is unknown"},
    // Heat and power.
    {Code::kThermalSlowdown, kGpuCheck, "thermal_slowdown", kMonitor, kMonitor, kByCheck,
     "the GPU is slowed down because it is too hot"},
    {Code::kHwSlowdown, kGpuCheck, "hw_slowdown", kMonitor, kMonitor, kByCheck,
     "the hardware throttles the GPU without reporting a reason"},
    {Code::kPowerBrake, kGpuCheck, "power_brake", kMonitor, kMonitor, kByCheck,
     "the power supply throttles the GPU"},
    // Links.
    {Code::kPcieWidth, kGpuCheck, "pcie_width", kMonitor, kMonitor, kByCheck,
     "fewer PCIe lanes than the GPU and the slot support"},
    {Code::kPcieGeneration, kGpuCheck, "pcie_generation", kMonitor, kMonitor, kByCheck,
     "under load, PCIe runs slower than the GPU and the slot support"},
    {Code::kPcieReplays, kGpuCheck, "pcie_replays", kMonitor, kMonitor, kByCheck,
     "many PCIe packets have to be sent again"},
    {Code::kNvlinkInactive, kGpuCheck, "nvlink_inactive", kMonitor, kMonitor, kByCheck,
     "some NVLinks of this GPU are inactive, although they were active before or should be active"},
    {Code::kFabricNotReady, kGpuCheck, "fabric_not_ready", kReset, kReset, kByCheck,
     "the GPU has not joined its NVLink fabric: multi-GPU jobs cannot start"},
    {Code::kFabricError, kGpuCheck, "fabric_error", kReset, kReset, kByCheck,
     "the driver reports that the GPU joined its NVLink fabric, but with an error status"},
    {Code::kFabricUnhealthy, kGpuCheck, "fabric_unhealthy", kMonitor, kMonitor, kByCheck,
     "the driver says that this GPU's part of the NVLink fabric is not healthy"},
    // Missing GPUs.
    {Code::kGpuLost, kGpuCheck, "gpu_lost", kReboot, kIsolate, kByCheck,
     "the driver cannot reach this GPU any more, and a second source agrees"},
    {Code::kGpuLostUnconfirmed, kGpuCheck, "gpu_lost_unconfirmed", kMonitor, kIsolate, kByCheck,
     "the driver cannot reach this GPU any more; no second source agrees"},
    {Code::kGpuUndriven, kGpuCheck, "gpu_undriven", kReboot, kIsolate, kByCheck,
     "the GPU is on the PCI bus, but the driver does not list it; a second source explains why"},
    {Code::kGpuUndrivenUnconfirmed, kGpuCheck, "gpu_undriven_unconfirmed", kMonitor, kIsolate,
     kByCheck,
     "the GPU is on the PCI bus, but the driver does not list it; no second source agrees"},
    {Code::kGpuMissing, kGpuCheck, "gpu_missing", kReboot, kIsolate, kByCheck,
     "fewer GPUs than this machine must have, according to its profile and a second source"},
    {Code::kGpuMissingUnconfirmed, kGpuCheck, "gpu_missing_unconfirmed", kMonitor, kIsolate,
     kByCheck, "fewer GPUs than this machine must have, according to only one source"},
    {Code::kGpuExtra, kGpuCheck, "gpu_extra", kMonitor, kIsolate, kByCheck,
     "more GPUs than the profile of this instance type lists: correct the profile"},
    // The driver.
    {Code::kDriverHung, kGpuCheck, "driver_hung", kReboot, kIsolate, kByCheck,
     "the driver does not answer, and a second source agrees"},
    {Code::kDriverHungUnconfirmed, kGpuCheck, "driver_hung_unconfirmed", kMonitor, kIsolate,
     kByCheck, "the driver does not answer; no second source agrees"},
    {Code::kLibraryUnusable, kGpuCheck, "library_unusable", kMonitor, kIsolate, kByCheck,
     "GPUs are present, but the driver's library does not work: this is a software problem, not a "
     "hardware fault"},
    {Code::kWorkerCrashed, kGpuCheck, "worker_crashed", kMonitor, kMonitor, kByCheck,
     "the GPU worker exited unexpectedly and is being restarted"},
    {Code::kEventsHung, kGpuCheck, "events_hung", kMonitor, kMonitor, kByCheck,
     "the call that waits for the driver's Xid events hangs: Xids come only from the kernel log"},
    // Check 0.
    {Code::kXid159Uvm, kNvidiaSmiCheck, "xid_159_uvm", kReset, kReset, kByReset,
     "Xid 159 while a program used unified memory: only then does NVIDIA call for a GPU reset"},
    // Check 2.
    {Code::kEfaCount, kEfa, "efa_count", kIsolate, kIsolate, kByCheck,
     "fewer EFA devices than this machine must have"},
    {Code::kEfaExtra, kEfa, "efa_extra", kMonitor, kIsolate, kByCheck,
     "more EFA devices than the profile of this instance type lists: correct the profile"},
    {Code::kEfaRdmaMissing, kEfa, "efa_rdma_missing", kMonitor, kMonitor, kByCheck,
     "the RDMA subsystem lacks EFA devices that are on the PCI bus"},
    {Code::kEfaUverbsMissing, kEfa, "efa_uverbs_missing", kMonitor, kMonitor, kByCheck,
     "RDMA devices have no /dev/infiniband/uverbs file: programs cannot open them"},
    {Code::kEfaModuleMissing, kEfa, "efa_module_missing", kMonitor, kMonitor, kByCheck,
     "a kernel module that EFA needs is not loaded"},
    {Code::kEfaProviderMissing, kEfa, "efa_provider_missing", kMonitor, kMonitor, kByCheck,
     "libfabric does not offer the provider of this instance type"},
    {Code::kGdrcopyFailed, kEfa, "gdrcopy_failed", kMonitor, kMonitor, kByCheck,
     "GDRCopy's own test has failed"},
    {Code::kMemlockLow, kEfa, "memlock_low", kMonitor, kMonitor, kByCheck,
     "the locked-memory limit of programs is below 16 GiB: RDMA needs more"},
    // Check 3.
    {Code::kNvlinkAbsent, kTopology, "nvlink_absent", kIsolate, kIsolate, kByCheck,
     "this machine must have NVLink, but no link of any GPU is active"},
    {Code::kTopologyBroken, kTopology, "topology_broken", kIsolate, kIsolate, kByCheck,
     "the driver reports two GPUs on the same board that cannot reach each other"},
    {Code::kP2pUnsupported, kTopology, "p2p_unsupported", kMonitor, kMonitor, kByCheck,
     "GPUs that are joined by NVLink cannot reach each other's memory over it"},
    {Code::kFabricManagerDown, kTopology, "fabric_manager_down", kReset, kReset, kByCheck,
     "the node has NVSwitches, but nv-fabricmanager is not running"},
    {Code::kFabricManagerDownCompleted, kTopology, "fabric_manager_down_completed", kMonitor,
     kReset, kByCheck,
     "nv-fabricmanager is not running, although the GPUs are still in their fabric"},
    {Code::kNvlinkRecoveryErrors, kTopology, "nvlink_recovery_errors", kMonitor, kMonitor, kByCheck,
     "NVLinks had to recover, or packets had to be resent, since the last check"},
    {Code::kNvlinkCrcErrors, kTopology, "nvlink_crc_errors", kMonitor, kMonitor, kByCheck,
     "NVLink packets arrive corrupted at a high rate"},
    // Check 5.
    {Code::kNcclWrongValues, kNccl, "nccl_wrong_values", kReset, kIsolate, kByCheck,
     "all_reduce returns wrong values, and jobs would too; the cause may be a driver, an IOMMU or "
     "a link"},
    {Code::kNcclWrongValuesUnattributed, kNccl, "nccl_wrong_values_unattributed", kMonitor,
     kIsolate, kByCheck,
     "all_reduce across nodes returns wrong values, but the test does not show which node is at "
     "fault"},
    {Code::kNcclHardwareError, kNccl, "nccl_hardware_error", kReset, kIsolate, kByCheck,
     "CUDA reported a GPU or link error during all_reduce"},
    {Code::kNcclFailed, kNccl, "nccl_failed", kReset, kReset, kByCheck,
     "all_reduce has failed; only the seed profile treats that as a hardware fault"},
    {Code::kNcclSlow, kNccl, "nccl_slow", kMonitor, kMonitor, kByCheck,
     "all_reduce is slower than the threshold of this instance type"},
    {Code::kNcclNoEfa, kNccl, "nccl_no_efa", kMonitor, kMonitor, kByCheck,
     "this instance type has EFA, but NCCL does not use it"},
    {Code::kNcclSubTest, kNccl, "nccl_sub_test", kMonitor, kMonitor, kByCheck,
     "all_reduce over a single transport failed or was slow"},
    // Check 6.
    {Code::kEfaAbsent, kEfaLoopback, "efa_absent", kIsolate, kIsolate, kByCheck,
     "this machine must have EFA, but neither libfabric nor the PCI bus shows an EFA device"},
    {Code::kEfaAbsentUnconfirmed, kEfaLoopback, "efa_absent_unconfirmed", kMonitor, kIsolate,
     kByCheck, "the PCI bus has EFA devices, but libfabric lists none: this is a software problem"},
    {Code::kEfaLoopbackFailed, kEfaLoopback, "efa_loopback_failed", kReboot, kReset, kByCheck,
     "this device fails the loopback test, but other devices pass; a GPU reset does not fix a NIC"},
    {Code::kEfaLoopbackSlow, kEfaLoopback, "efa_loopback_slow", kMonitor, kMonitor, kByCheck,
     "the device's loopback bandwidth is below EFA_MIN_BW"},
    {Code::kEfaLoopbackDrops, kEfaLoopback, "efa_loopback_drops", kMonitor, kMonitor, kByCheck,
     "packets were dropped or timed out during the test"},
    // Announcements of the cloud, in the order of AnnouncementKind.
    {Code::kAnnouncedRebalance, kAnnouncementsCheck, "announced_rebalance", kMonitor, kMonitor,
     kByCheck, "the cloud reports an elevated risk that it will interrupt this machine"},
    {Code::kAnnouncedFreeze, kAnnouncementsCheck, "announced_freeze", kMonitor, kMonitor, kByCheck,
     "the cloud will pause or move this machine, or perform maintenance on its network or power"},
    {Code::kAnnouncedReboot, kAnnouncementsCheck, "announced_reboot", kMonitor, kMonitor, kByCheck,
     "the cloud will restart this machine"},
    {Code::kAnnouncedRedeploy, kAnnouncementsCheck, "announced_redeploy", kMonitor, kMonitor,
     kByCheck, "the cloud will stop this machine; it starts again on other hardware"},
    {Code::kAnnouncedTerminate, kAnnouncementsCheck, "announced_terminate", kMonitor, kMonitor,
     kByCheck, "the cloud will reclaim or terminate this machine"},
};

constexpr bool stand_in_their_order() {
  for (std::size_t row = 0; row < std::size(kCodes); ++row) {
    if (kCodes[row].id != static_cast<Code>(row)) return false;
  }
  return true;
}
static_assert(stand_in_their_order(), "a row for each code, in the order of the enum");
static_assert(std::size(kCodes) == static_cast<std::size_t>(Code::kLast) + 1);

}  // namespace

std::span<const FindingCode> finding_codes() { return kCodes; }

const FindingCode& row_of(Code code) { return kCodes[static_cast<std::size_t>(code)]; }

bool is_any_of(std::string_view name, std::span<const Code> codes) {
  return std::ranges::any_of(codes, [&](Code code) { return row_of(code).code == name; });
}

}  // namespace gpuward::exporter
