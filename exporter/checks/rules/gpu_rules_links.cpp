// The connections of a GPU: PCIe, NVLink, the NVLink fabric.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "exporter/checks/rules/expected_links.h"
#include "exporter/checks/rules/gpu_rules.h"
#include "exporter/checks/rules/second_source.h"

namespace gpuward::exporter {
namespace {

// An idle GPU lowers its PCIe link to generation 1, so the link is judged above this use.
constexpr double kUnderLoad = 0.5;
// The limit of DCGM's health watch: DCGM_LIMIT_MAX_PCIREPLAY_RATE.
constexpr double kMostReplaysPerMinute = 8;

// Values of nvmlGpuFabricInfoV_t::healthSummary.
constexpr std::uint32_t kUnhealthy = 2, kLimitedCapacity = 3;

struct HealthBits {  // of nvmlGpuFabricInfoV_t::healthMask
  unsigned shift = 0;
  std::string_view name;
};
constexpr std::array<HealthBits, 4> kHealthBits{{
    {0, "degraded bandwidth"},
    {2, "route recovery"},
    {4, "route unhealthy"},
    {6, "access timeout recovery"},
}};
constexpr std::uint32_t kTrue = 1;  // 0 not supported, 2 false
constexpr unsigned kConfigurationShift = 8;
constexpr std::uint32_t kConfigurationFault = 2;  // from here up; 0 not supported, 1 none
constexpr std::array<std::string_view, 7> kConfigurationFaults{
    "system GUID",     "chassis serial number", "no partition",
    "too few NVLinks", "GPU firmware",          "location",
    "GPU state"};

std::string unhealthy_parts(std::uint32_t mask) {
  std::string parts;
  for (const HealthBits& bits : kHealthBits) {
    if (((mask >> bits.shift) & 0x3U) != kTrue) continue;
    parts.append(parts.empty() ? "" : ", ").append(bits.name);
  }
  const std::uint32_t fault = (mask >> kConfigurationShift) & 0xFU;
  if (fault < kConfigurationFault) return parts;
  const std::size_t which = fault - kConfigurationFault;
  parts.append(parts.empty() ? "" : ", ").append("incorrect configuration (");
  parts.append(which < kConfigurationFaults.size() ? std::string(kConfigurationFaults.at(which))
                                                   : "number " + std::to_string(fault));
  parts += ')';
  return parts;
}

void judge_fabric_health(const Fabric& fabric, const std::string& bus_id, FindingList& found) {
  const std::string parts = unhealthy_parts(fabric.health_mask.value_or(0));
  const std::uint32_t summary = fabric.health_summary.value_or(0);
  if (parts.empty() && summary != kUnhealthy && summary != kLimitedCapacity) return;
  found.add(Code::kFabricUnhealthy, bus_id,
            "NVLink fabric: " +
                (parts.empty() ? std::string("unhealthy according to its health summary") : parts));
}

}  // namespace

void judge_pcie(const GpuReading& reading, const GpuRuleInput& input, FindingList& found) {
  const std::string bus_id = reading.gpu.pci.bus_id();
  const Pcie& pcie = reading.pcie;
  if (pcie.width && pcie.width_max && *pcie.width < *pcie.width_max) {
    found.add(Code::kPcieWidth, bus_id,
              "PCIe x" + std::to_string(*pcie.width) + " of x" + std::to_string(*pcie.width_max));
  }
  const bool is_busy = reading.utilization_ratio.value_or(0) >= kUnderLoad;
  if (is_busy && pcie.generation && pcie.generation_max &&
      *pcie.generation < *pcie.generation_max) {
    found.add(Code::kPcieGeneration, bus_id,
              "PCIe generation " + std::to_string(*pcie.generation) + " of " +
                  std::to_string(*pcie.generation_max) + " under load");
  }
  const auto replays =
      input.replays_per_minute ? input.replays_per_minute(bus_id) : std::optional<double>();
  if (replays && *replays > kMostReplaysPerMinute) {
    found.add(Code::kPcieReplays, bus_id,
              std::to_string(static_cast<std::uint64_t>(*replays)) + " PCIe replays a minute");
  }
}

void judge_links(const GpuReading& reading, const GpuRuleInput& input, FindingList& found) {
  // With MIG on, a GPU has no peers and its links may sleep.
  if (reading.mig_enabled.value_or(false)) return;
  const std::string bus_id = reading.gpu.pci.bus_id();
  if (reading.links.empty()) return found.cannot_tell(Code::kNvlinkInactive, bus_id);
  std::string inactive, expected;
  std::size_t count = 0;
  for (const Link& link : reading.links) {
    if (link.active.value_or(true)) continue;
    std::string why = why_expected(reading, link, input);
    if (why.empty()) continue;
    if (expected.empty()) expected = std::move(why);
    inactive += (count == 0 ? "" : ", ") + std::to_string(link.number);
    ++count;
  }
  if (count == 0) return;
  found.add(Code::kNvlinkInactive, bus_id,
            std::to_string(count) + " of " + std::to_string(reading.links.size()) +
                " NVLinks are not active: " + inactive + "; " + expected);
}

void judge_fabric(const GpuReading& reading, const GpuRuleInput& input, FindingList& found) {
  const Fabric& fabric = reading.fabric;
  const std::string bus_id = reading.gpu.pci.bus_id();
  if (!fabric.state) {
    for (const Code code : {Code::kFabricNotReady, Code::kFabricError, Code::kFabricUnhealthy}) {
      found.cannot_tell(code, bus_id);
    }
    return;
  }
  if (*fabric.state == kFabricNotSupported) return;
  if (*fabric.state != kFabricCompleted) {
    const std::string line = *fabric.state == kFabricNotStarted
                                 ? "the GPU has not started to join the fabric"
                                 : "the GPU is still joining the fabric";
    if (is_settled(input)) {
      return add_as_profile_says(Code::kFabricNotReady, bus_id, line, input, found);
    }
    return found.add_too_soon(Code::kFabricNotReady, bus_id, line);
  }
  if (fabric.status.value_or(0) != 0) {
    add_as_profile_says(
        Code::kFabricError, bus_id,
        "joining the fabric completed with NVML status " + std::to_string(*fabric.status), input,
        found);
  }
  judge_fabric_health(fabric, bus_id, found);
}

}  // namespace gpuward::exporter
