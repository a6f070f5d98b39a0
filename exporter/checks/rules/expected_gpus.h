// How many GPUs of a vendor this machine must have, and by which source: the profile of its type;
// else the labels of its node or the most that it has had, whichever is more, because a labeller
// that lists the GPUs again follows the driver when it loses one. Pure; used by the rules that
// count GPUs.
//
// The counts are GPUs as the driver and the PCI bus list them, without MIG devices, partitions and
// the replicas of time-slicing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

struct ExpectedGpus {
  std::size_t count = 0;
  std::string says;  // "p5.48xlarge has 8"
  // False if the number comes from labels or history: worth a look, never worth a remediation.
  bool is_by_profile = false;
};

// nullopt: no source expects any GPU.
[[nodiscard]] std::optional<ExpectedGpus> expected_gpus(Vendor vendor, const GpuRuleInput& input);

// Returns the GPUs on the PCI bus; nullopt if that cannot be read.
[[nodiscard]] std::optional<std::size_t> count_on_bus(const NodeFacts& facts, Vendor vendor);
// Returns how many of them a driver of this system should report.
[[nodiscard]] std::size_t count_for_driver(const NodeFacts& facts, Vendor vendor);

}  // namespace gpuward::exporter
