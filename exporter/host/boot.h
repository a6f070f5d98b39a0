// The boot of this machine and its time. It gives a starting node time before a missing GPU counts,
// and identifies the boot for findings that a reboot clears. Thread-safe.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct Boot {
  std::string id;  // "3f1a…", 36 characters; empty if the kernel has none
  // By the current wall clock, in whole seconds; moves when the clock is set. nullopt if unknown.
  std::optional<std::chrono::system_clock::time_point> time;
  std::optional<std::chrono::milliseconds> uptime;  // since the boot, suspension included
};

[[nodiscard]] Boot read_boot(const HostPaths& host);

}  // namespace gpuward::exporter
