// The driver's view of a GPU as a whole: the action that it asks for, its mode, and its throttling.
#include <string>

#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {
namespace {

// NVML's clocks event reasons (nvmlClocksEventReason*).
constexpr std::uint64_t kHardwareSlowdown = 0x8;
constexpr std::uint64_t kSoftwareThermal = 0x20;
constexpr std::uint64_t kHardwareThermal = 0x40;
constexpr std::uint64_t kPowerBrakeSlowdown = 0x80;

// Judges NVML_FI_DEV_GET_GPU_RECOVERY_ACTION. 0 (none) lowers and clears no finding of another
// source.
void judge_recovery(std::uint32_t action, const std::string& bus_id, FindingList& found) {
  switch (action) {
    case 0:
      return;
    case 1:
      return found.add(Code::kRecoveryActionReset, bus_id, "recovery action: GPU reset");
    case 2:
      return found.add(Code::kRecoveryActionReboot, bus_id, "recovery action: node reboot");
    case 3:
      return found.add(Code::kRecoveryActionReset, bus_id, "recovery action: drain P2P");
    case 4:
      return found.add(Code::kRecoveryActionReset, bus_id, "recovery action: drain and reset");
    case 5:
      return found.add(Code::kRecoveryActionImex, bus_id, "recovery action: recover IMEX domain");
    default:  // from a driver newer than this list
      return found.add(Code::kRecoveryActionImex, bus_id,
                       "recovery action " + std::to_string(action) + ": not known to gpuward");
  }
}

std::string degrees(double value) { return std::to_string(static_cast<int>(value)) + " C"; }

}  // namespace

void judge_state(const GpuReading& reading, FindingList& found) {
  const std::string bus_id = reading.gpu.pci.bus_id();
  if (!reading.reset_required.empty()) {
    found.add(Code::kResetRequired, bus_id, reading.reset_required);
    found.cannot_tell_anything(bus_id);  // values that it could not report for that reason
  }
  if (reading.recovery_action) {
    judge_recovery(*reading.recovery_action, bus_id, found);
  } else {
    for (const Code code :
         {Code::kRecoveryActionReset, Code::kRecoveryActionReboot, Code::kRecoveryActionImex}) {
      found.cannot_tell(code, bus_id);
    }
  }
  if (reading.persistence_mode && !*reading.persistence_mode) {
    found.add(Code::kPersistenceOff, bus_id, "persistence mode is off");
  }
}

void judge_slowdown(const GpuReading& reading, FindingList& found) {
  const std::string bus_id = reading.gpu.pci.bus_id();
  const std::uint64_t reasons = reading.slowdown.reasons.value_or(0);
  const Thermals& heat = reading.thermals;
  const bool is_at_its_limit =
      (heat.gpu && heat.slowdown_threshold && *heat.gpu >= *heat.slowdown_threshold) ||
      (heat.margin && heat.slowdown_margin && *heat.margin <= *heat.slowdown_margin);
  const bool is_thermal = (reasons & (kSoftwareThermal | kHardwareThermal)) != 0;
  if (is_thermal || is_at_its_limit) {
    found.add(
        Code::kThermalSlowdown, bus_id,
        heat.gpu ? "throttled at " + degrees(*heat.gpu) : std::string("throttled because of heat"));
  }
  if ((reasons & kPowerBrakeSlowdown) != 0) {
    found.add(Code::kPowerBrake, bus_id, "throttled by the power brake signal");
  }
  // The driver sets the general bit in addition to the bits that give the reason.
  const bool is_explained = (reasons & (kHardwareThermal | kPowerBrakeSlowdown)) != 0;
  if ((reasons & kHardwareSlowdown) != 0 && !is_explained) {
    found.add(Code::kHwSlowdown, bus_id, "throttled by the hardware");
  }
}

}  // namespace gpuward::exporter
