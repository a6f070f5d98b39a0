// A node to judge: eight healthy H100s of a p5.48xlarge that has had them before, an hour after
// boot, that a test makes sick where it wants. Values are invented unless a test says where they
// come from.
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

  // Bare metal without a profile at its first boot.
  void forget_machine();
  // All links of this boot, as the exporter has seen them before.
  void remember_links();
  // The driver does not list it, the bus neither.
  void take_out_of_driver(std::size_t index);
  void take_off_bus(std::size_t index);
  // A line of the kernel log, of this boot.
  void kernel_has(const std::string& check, const std::string& code, const std::string& pci,
                  Severity severity, Evidence evidence = Evidence::kKernel);
  // What check "gpu" has left behind in the boot before.
  void was_found_before_the_reboot(const std::string& code, const std::string& pci);

  // With the report as it is now.
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

// nullptr where there is none; `pci` empty: of the node, or whichever.
[[nodiscard]] const Finding* find_finding(const CheckOutcome& outcome, std::string_view code,
                                          std::string_view pci = {});
// kNone where it is not found.
[[nodiscard]] Severity severity_of(const CheckOutcome& outcome, std::string_view code);
[[nodiscard]] std::string codes_of(const CheckOutcome& outcome);  // "a, b"

}  // namespace gpuward::exporter
