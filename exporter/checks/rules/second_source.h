// Whether a second source besides the driver reports the same fault. A GPU that cannot be reached
// is worth a reboot only if two sources agree, some time after boot and driver load, and worth a
// replacement only if a reboot has not helped. Pure; used by the rules on missing GPUs and hung
// drivers.
#pragma once

#include <string>
#include <string_view>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

// Returns true if the kernel itself reported in this boot that it lost this device or could not
// start it.
[[nodiscard]] bool kernel_says_gone(const GpuRuleInput& input, std::string_view pci_bus_id);
// The same for any NVIDIA or AMD device that `is_meant` accepts.
[[nodiscard]] bool kernel_says_gone(const GpuRuleInput& input,
                                    const std::function<bool(const std::string&)>& is_meant);
// Returns true if the kernel itself reported in this boot that this device (empty: any) does not
// answer.
[[nodiscard]] bool kernel_says_stuck(const GpuRuleInput& input, std::string_view pci_bus_id);
// Returns true if the PCI bus could be read and the device is missing or does not answer.
[[nodiscard]] bool bus_says_gone(const GpuRuleInput& input, const std::string& pci_bus_id);

// Returns true if boot and driver load are long enough ago; false if the time of the boot is
// unknown.
[[nodiscard]] bool is_settled(const GpuRuleInput& input);

// A finding that is worth a reboot if two sources agree. It gets `code` if they do or if an earlier
// boot had that finding, else `unconfirmed`.
struct Suspicion {
  Code code = Code::kLast, unconfirmed = Code::kLast;
  std::string pci_bus_id;  // empty: the node as a whole
  std::string line;
  bool is_confirmed = false;
};
void add_suspicion(const Suspicion& suspicion, const GpuRuleInput& input, FindingList& found);

}  // namespace gpuward::exporter
