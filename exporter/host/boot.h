// When this machine was booted and which boot this is. Used to give a starting node time before a
// missing GPU counts, and to key what a reboot heals. Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct Boot {
  std::string id;  // "3f1a…", 36 characters; empty where the kernel does not say
  // By the wall clock of now, whole seconds; moves when the clock is set. nullopt: cannot tell.
  std::optional<std::chrono::system_clock::time_point> time;
  std::optional<std::chrono::milliseconds> uptime;  // since the boot, suspension included
};

[[nodiscard]] Boot read_boot(const HostPaths& host);

}  // namespace gpuward::exporter
