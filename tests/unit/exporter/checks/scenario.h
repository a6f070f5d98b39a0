// A node to judge: eight healthy H100s of a p5.48xlarge that has had them before, an hour after
// boot. A test adds the faults. Values are invented unless a test says where they come from.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "exporter/checks/check/finding_codes.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

inline constexpr auto kDone = CheckOutcome::Kind::kDone;
inline constexpr auto kError = CheckOutcome::Kind::kError;
inline constexpr auto kSkipped = CheckOutcome::Kind::kSkipped;

class Scenario {
 public:
  explicit Scenario(unsigned gpus = 8);

  [[nodiscard]] GpuReading& gpu(std::size_t index) { return report.vendors[0].gpus[index]; }
  [[nodiscard]] PciGpu& on_bus(std::size_t index) { return (*facts.pci_gpus)[index]; }
  [[nodiscard]] static std::string bus_id(std::size_t index);

  // Makes it bare metal without a profile, at its first boot.
  void forget_machine();
  // Records all links of this boot, as if the exporter had seen them before.
  void remember_links();
  // Removes the GPU from the driver's list, but not from the bus.
  void take_out_of_driver(std::size_t index);
  void take_off_bus(std::size_t index);
  // Adds a line of the kernel log, of this boot.
  void kernel_has(const std::string& check, const std::string& code, const std::string& pci,
                  Severity severity, Evidence evidence = Evidence::kKernel);
  // Adds a finding that check "gpu" has left from the earlier boot.
  void was_found_before_the_reboot(const std::string& code, const std::string& pci);

  // Returns a snapshot with the current report.
  [[nodiscard]] Snapshot make_snapshot() const;
  [[nodiscard]] CheckOutcome judge() const;

  GpuReport report;
  WorkerState state = WorkerState::kAnswering;
  std::string fault, hung_at;
  std::string instance_source = "imdsv2";
  State known;
  CheckSettings settings;
  std::optional<InstanceProfile> profile;
  NodeFacts facts;
  WallTime now;
};

// NVML's state: 0 not supported, 1 not started, 2 in progress, 3 completed.
[[nodiscard]] Fabric fabric_in(std::uint32_t state);

// One healthy AMD GPU at 0000:05:00, and no profile.
[[nodiscard]] Scenario amd_scenario_node();

// Returns the first finding with that code, or nullptr. If `pci` is empty, any address matches.
[[nodiscard]] const Finding* find_finding(const CheckOutcome& outcome, std::string_view code,
                                          std::string_view pci = {});
// Returns kNone if there is no such finding.
[[nodiscard]] Severity severity_of(const CheckOutcome& outcome, std::string_view code);
[[nodiscard]] std::string codes_of(const CheckOutcome& outcome);  // "a, b"

}  // namespace gpuward::exporter
