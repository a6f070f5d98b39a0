// The machine's identity by its firmware (DMI, also called SMBIOS). Used to remember the number of
// GPUs that this machine has had, and to find the profile of a machine that no cloud names.
#pragma once

#include <string>

#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct Machine {
  // Lower case; empty if the firmware has none, or one that many machines share. Only root may read
  // it.
  std::string system_uuid;
  std::string product_name;  // "PowerEdge XE9680"; empty if the firmware has none

  bool operator==(const Machine&) const = default;
};

// Any thread; never blocks.
[[nodiscard]] Machine read_machine(const HostPaths& host);

}  // namespace gpuward::exporter
