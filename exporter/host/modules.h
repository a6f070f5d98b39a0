// Kernel modules: whether a driver is there, which version, since when. Used by the checks of GPUs
// and EFA. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct Module {
  std::string name;
  std::string version;  // "570.133.20"; empty where it names none
  // `initstate` (kernel, Documentation/ABI/stable/sysfs-module): coming and going are a driver that
  // is being loaded or removed, by an upgrade for example. Built-in ones are always live.
  enum class State : std::uint8_t { kLive, kComing, kGoing };
  State state = State::kLive;
  // Another number each time the module is loaded.
  std::uint64_t load = 0;
  // It was loaded at this time or earlier: sysfs stamps a folder when somebody first looks at it,
  // and again when memory was short. See DriverAges.
  std::chrono::system_clock::time_point seen_since;
};

// nullopt: it is not loaded and not built in.
[[nodiscard]] std::optional<Module> read_module(const HostPaths& host, const std::string& name);

// Remembers for each module the earliest time at which its present load was seen, so that it only
// ever becomes better known. Not shared between threads.
class DriverAges {
 public:
  // Never earlier than `booted`.
  [[nodiscard]] std::chrono::system_clock::time_point loaded_since(
      const Module& module, std::chrono::system_clock::time_point booted);

 private:
  struct Seen {
    std::uint64_t load = 0;
    std::chrono::system_clock::time_point since;
  };
  std::map<std::string, Seen> seen_;
};

}  // namespace gpuward::exporter
