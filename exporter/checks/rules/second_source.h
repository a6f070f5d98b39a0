// Whether anybody but the driver says so too. A GPU that cannot be reached is worth a reboot only
// when two sources agree, some time after boot and driver load, and worth a replacement only when a
// reboot has not helped. Pure; used by the rules on GPUs that are missing and drivers that hang.
#pragma once

#include <string>
#include <string_view>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

// The kernel itself has said in this boot that it has lost this device, or could not start it.
[[nodiscard]] bool kernel_says_gone(const GpuRuleInput& input, std::string_view pci_bus_id);
// The same of any NVIDIA or AMD device that `is_meant` accepts.
[[nodiscard]] bool kernel_says_gone(const GpuRuleInput& input,
                                    const std::function<bool(const std::string&)>& is_meant);
// The kernel itself has said in this boot that this device (empty: any) does not answer.
[[nodiscard]] bool kernel_says_stuck(const GpuRuleInput& input, std::string_view pci_bus_id);
// The PCI bus could be read, and has lost this device or gets no answer from it.
[[nodiscard]] bool bus_says_gone(const GpuRuleInput& input, const std::string& pci_bus_id);

// Long enough after boot and driver load. Not known: no.
[[nodiscard]] bool is_settled(const GpuRuleInput& input);

// A finding that is worth a reboot where two sources agree: `code` where they do, or where an
// earlier boot has left it behind; else `code`_unconfirmed.
struct Suspicion {
  Code code = Code::kLast, unconfirmed = Code::kLast;
  std::string pci_bus_id;  // empty: the node as a whole
  std::string line;
  bool is_confirmed = false;
};
void add_suspicion(const Suspicion& suspicion, const GpuRuleInput& input, FindingList& found);

}  // namespace gpuward::exporter
