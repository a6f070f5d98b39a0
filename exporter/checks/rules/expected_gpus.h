// How many GPUs of a vendor this machine must have, and who says so: the profile of its type; else
// the labels of its node or the most that it has had, whichever is more, because a labeller that
// lists the GPUs anew follows the driver when it loses one. Pure; used by the rules that count
// GPUs.
//
// What is counted here are GPUs as the driver and the PCI bus list them: neither MIG devices, nor
// partitions, nor the replicas of time-slicing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "exporter/checks/rules/gpu_rules.h"

namespace gpuward::exporter {

struct ExpectedGpus {
  std::size_t count = 0;
  std::string says;  // "p5.48xlarge has 8"
  // False of what is remembered or labelled: worth a look, never worth a remediation.
  bool is_by_profile = false;
};

// nullopt: nobody expects anything.
[[nodiscard]] std::optional<ExpectedGpus> expected_gpus(Vendor vendor, const GpuRuleInput& input);

// On the PCI bus; nullopt where that cannot be read.
[[nodiscard]] std::optional<std::size_t> count_on_bus(const NodeFacts& facts, Vendor vendor);
// Those of them that a driver of this system is to speak of.
[[nodiscard]] std::size_t count_for_driver(const NodeFacts& facts, Vendor vendor);

}  // namespace gpuward::exporter
