#include "exporter/checks/finding_codes.h"

#include <algorithm>

namespace gpuward::exporter {
namespace {

using enum Severity;

constexpr std::string_view kNvidiaSmi = "0-nvidia-smi";
constexpr std::string_view kEfa = "2-efa-enumeration";
constexpr std::string_view kTopology = "3-topology-check";
constexpr std::string_view kNccl = "5-nccl-allreduce";
constexpr std::string_view kEfaLoopback = "6-efa-loopback";
constexpr ClearedBy kByCheck = ClearedBy::kCheck;
constexpr ClearedBy kByOperator = ClearedBy::kOperator;
constexpr ClearedBy kByReset = ClearedBy::kGpuReset;

constexpr FindingCode kCodes[] = {
    // Memory.
    {kGpuCheck, "ecc_uncorrected", kReset, kReset, kByCheck,
     "memory errors that could not be corrected; the driver's counter falls with a GPU reset"},
    {kGpuCheck, "retired_pages_dbe", kIsolate, kIsolate, kByCheck,
     "pages retired for double-bit errors: the board's memory is failing"},
    {kGpuCheck, "retired_pages_pending", kReboot, kReboot, kByCheck,
     "pages are retired only when the driver is loaded anew"},
    {kGpuCheck, "retired_pages_sbe", kMonitor, kMonitor, kByCheck,
     "many pages retired for single-bit errors"},
    {kGpuCheck, "row_remap_pending", kReset, kReset, kByCheck,
     "a bad row is replaced by a spare one at the next GPU reset"},
    {kGpuCheck, "row_remap_failure", kIsolate, kIsolate, kByOperator,
     "a bad row could not be replaced: no spare row is left"},
    {kGpuCheck, "sram_threshold", kIsolate, kIsolate, kByCheck,
     "the driver says that SRAM errors have passed the limit for replacing the board"},
    {kGpuCheck, "ras_uncorrected", kIsolate, kIsolate, kByOperator,
     "an AMD block has more uncorrectable errors than its threshold allows"},
    {kGpuCheck, "cper_fatal", kIsolate, kIsolate, kByOperator,
     "the latest error record (CPER) of an AMD GPU is fatal: an error that could not be corrected"},
    // What the driver says of itself.
    {kGpuCheck, "recovery_action_reset", kReset, kReset, kByCheck,
     "the driver asks for a GPU reset"},
    {kGpuCheck, "recovery_action_reboot", kReboot, kReboot, kByCheck,
     "the driver asks for a reboot of the node"},
    {kGpuCheck, "reset_required", kReset, kReset, kByCheck,
     "the driver answers that the GPU must be reset before it can be used again"},
    {kGpuCheck, "recovery_action_imex", kMonitor, kMonitor, kByCheck,
     "the driver asks for its IMEX domain to be recovered"},
    {kGpuCheck, "persistence_off", kMonitor, kMonitor, kByCheck,
     "without persistence mode the driver unloads the GPU's state between jobs"},
    {kGpuCheck, "gpu_unreadable", kMonitor, kMonitor, kByCheck,
     "the driver does not say anything of this GPU: nobody can tell whether it is well"},
    // Heat and power.
    {kGpuCheck, "thermal_slowdown", kMonitor, kMonitor, kByCheck,
     "the GPU is held back because it is too hot"},
    {kGpuCheck, "hw_slowdown", kMonitor, kMonitor, kByCheck,
     "the hardware holds the GPU back, and does not say why"},
    {kGpuCheck, "power_brake", kMonitor, kMonitor, kByCheck,
     "the power supply has told the GPU to slow down"},
    // Links.
    {kGpuCheck, "pcie_width", kMonitor, kMonitor, kByCheck,
     "fewer PCIe lanes than GPU and slot could use"},
    {kGpuCheck, "pcie_generation", kMonitor, kMonitor, kByCheck,
     "PCIe is slower under load than GPU and slot could be"},
    {kGpuCheck, "pcie_replays", kMonitor, kMonitor, kByCheck,
     "many PCIe packets have to be sent again"},
    {kGpuCheck, "nvlink_inactive", kMonitor, kMonitor, kByCheck,
     "this instance type has NVLink, and some links of this GPU are not active"},
    {kGpuCheck, "fabric_not_ready", kReset, kReset, kByCheck,
     "the GPU has not joined its NVLink fabric: jobs on several GPUs cannot start"},
    {kGpuCheck, "fabric_error", kReset, kReset, kByCheck,
     "joining the NVLink fabric has ended with an error, although it counts as completed"},
    {kGpuCheck, "fabric_unhealthy", kMonitor, kMonitor, kByCheck,
     "the driver says that this GPU's part of the NVLink fabric is not healthy"},
    // GPUs that are not there.
    {kGpuCheck, "gpu_lost", kReboot, kIsolate, kByCheck,
     "the driver cannot reach this GPU any more, and a second source agrees"},
    {kGpuCheck, "gpu_lost_unconfirmed", kMonitor, kIsolate, kByCheck,
     "the driver cannot reach this GPU any more; no second source agrees"},
    {kGpuCheck, "gpu_undriven", kReboot, kIsolate, kByCheck,
     "the GPU is on the PCI bus and unknown to the driver, and a second source says why"},
    {kGpuCheck, "gpu_undriven_unconfirmed", kMonitor, kIsolate, kByCheck,
     "the GPU is on the PCI bus and unknown to the driver; no second source agrees"},
    {kGpuCheck, "gpu_missing", kReboot, kIsolate, kByCheck,
     "fewer GPUs than this instance type has, by two sources"},
    {kGpuCheck, "gpu_missing_unconfirmed", kMonitor, kIsolate, kByCheck,
     "fewer GPUs than this instance type has, by one source alone"},
    {kGpuCheck, "gpu_extra", kMonitor, kIsolate, kByCheck,
     "more GPUs than the profile of this instance type names: the profile is wrong"},
    // The driver.
    {kGpuCheck, "driver_hung", kReboot, kIsolate, kByCheck,
     "the driver does not answer, and a second source agrees"},
    {kGpuCheck, "driver_hung_unconfirmed", kMonitor, kIsolate, kByCheck,
     "the driver does not answer; no second source agrees"},
    {kGpuCheck, "library_unusable", kMonitor, kIsolate, kByCheck,
     "there are GPUs, and the driver's library does not work: this is software, not hardware"},
    {kGpuCheck, "worker_crashed", kMonitor, kMonitor, kByCheck,
     "the process that asks the driver has ended by itself and is started again"},
    // Check 0.
    {kNvidiaSmi, "profile_unknown", kMonitor, kMonitor, kByCheck,
     "nobody has said how many GPUs, links and NICs this node must have: none is counted"},
    {kNvidiaSmi, "xid_159_uvm", kReset, kReset, kByReset,
     "Xid 159 while a program had unified memory: the vendor resets the GPU then, and only then"},
    // Check 2.
    {kEfa, "efa_count", kIsolate, kIsolate, kByCheck,
     "fewer EFA devices than this instance type has; it may have been launched with fewer"},
    {kEfa, "efa_extra", kMonitor, kIsolate, kByCheck,
     "more EFA devices than the profile of this instance type names: the profile is wrong"},
    {kEfa, "efa_rdma_missing", kMonitor, kMonitor, kByCheck,
     "EFA devices are on the PCI bus that the RDMA subsystem does not have"},
    {kEfa, "efa_uverbs_missing", kMonitor, kMonitor, kByCheck,
     "RDMA devices have no /dev/infiniband/uverbs file: programs cannot open them"},
    {kEfa, "efa_module_missing", kMonitor, kMonitor, kByCheck,
     "a kernel module that EFA needs is not loaded"},
    {kEfa, "efa_provider_missing", kMonitor, kMonitor, kByCheck,
     "libfabric does not offer the provider of this instance type"},
    {kEfa, "gdrcopy_failed", kMonitor, kMonitor, kByCheck, "GDRCopy's own test has failed"},
    {kEfa, "memlock_low", kMonitor, kMonitor, kByCheck,
     "programs may lock less than 16 GiB of memory: RDMA needs more"},
    // Check 3.
    {kTopology, "nvlink_absent", kIsolate, kIsolate, kByCheck,
     "this instance type has NVLink, and not one link of any GPU is active"},
    {kTopology, "topology_broken", kIsolate, kIsolate, kByCheck,
     "the driver gives two GPUs one place, and they cannot reach each other"},
    {kTopology, "p2p_unsupported", kMonitor, kMonitor, kByCheck,
     "GPUs that are joined by NVLink cannot reach each other's memory over it"},
    {kTopology, "fabric_manager_down", kReset, kReset, kByCheck,
     "the node has NVSwitches, and nobody runs nv-fabricmanager"},
    {kTopology, "fabric_manager_down_completed", kMonitor, kReset, kByCheck,
     "nobody runs nv-fabricmanager, although the GPUs are still in their fabric"},
    {kTopology, "nvlink_recovery_errors", kMonitor, kMonitor, kByCheck,
     "NVLinks had to be brought up again, or packets sent again, since the last look"},
    {kTopology, "nvlink_crc_errors", kMonitor, kMonitor, kByCheck,
     "NVLink packets arrive broken at a rate that matters"},
    // Check 5.
    {kNccl, "nccl_wrong_values", kReset, kIsolate, kByCheck,
     "the GPUs add up wrongly: jobs would learn nonsense; a driver, an IOMMU or a link may do it"},
    {kNccl, "nccl_wrong_values_unattributed", kMonitor, kIsolate, kByCheck,
     "the GPUs of several nodes add up wrongly, and nothing says which node is at fault"},
    {kNccl, "nccl_hardware_error", kReset, kIsolate, kByCheck,
     "CUDA has met an error of a GPU or a link while all_reduce ran"},
    {kNccl, "nccl_failed", kReset, kReset, kByCheck,
     "all_reduce has failed; only the seed profile takes that for hardware"},
    {kNccl, "nccl_slow", kMonitor, kMonitor, kByCheck,
     "all_reduce is slower than the threshold of this instance type"},
    {kNccl, "nccl_no_efa", kMonitor, kMonitor, kByCheck,
     "this instance type has EFA, and NCCL does not use it"},
    {kNccl, "nccl_sub_test", kMonitor, kMonitor, kByCheck,
     "all_reduce over one transport alone has failed or is slow"},
    // Check 6.
    {kEfaLoopback, "efa_absent", kIsolate, kIsolate, kByCheck,
     "this instance type has EFA, and neither libfabric nor the PCI bus has a device"},
    {kEfaLoopback, "efa_absent_unconfirmed", kMonitor, kIsolate, kByCheck,
     "libfabric offers no EFA device, and the PCI bus has some: this is software"},
    {kEfaLoopback, "efa_loopback_failed", kReboot, kReset, kByCheck,
     "the device cannot send to itself while others can; a GPU reset does not help a NIC"},
    {kEfaLoopback, "efa_loopback_slow", kMonitor, kMonitor, kByCheck,
     "the device reaches itself slower than EFA_MIN_BW"},
    {kEfaLoopback, "efa_loopback_drops", kMonitor, kMonitor, kByCheck,
     "packets were dropped or timed out during the test"},
};

}  // namespace

std::span<const FindingCode> finding_codes() { return kCodes; }

const FindingCode* find_code(std::string_view code) {
  const auto* const found = std::ranges::find(kCodes, code, &FindingCode::code);
  return found == std::end(kCodes) ? nullptr : found;
}

}  // namespace gpuward::exporter
