// Which machine this is, as its firmware says (DMI, also called SMBIOS). Used to remember how many
// GPUs this machine has had, and to find the profile of a machine that no cloud has a name for.
#pragma once

#include <string>

#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct Machine {
  // Lower case; empty where the firmware has none, or one that many machines share. Root alone may
  // read it.
  std::string system_uuid;
  std::string product_name;  // "PowerEdge XE9680"; empty where the firmware does not say

  bool operator==(const Machine&) const = default;
};

// Any thread; never blocks.
[[nodiscard]] Machine read_machine(const HostPaths& host);

}  // namespace gpuward::exporter
