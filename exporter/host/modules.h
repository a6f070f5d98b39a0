// Kernel modules: whether a driver is loaded, its version, and since when. Used by the checks of
// GPUs and EFA. Thread-safe.
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
  std::string version;  // "570.133.20"; empty if it has none
  // `initstate` (kernel, Documentation/ABI/stable/sysfs-module): coming and going mean that a
  // driver is being loaded or removed, for example by an upgrade. Built-in modules are always live.
  enum class State : std::uint8_t { kLive, kComing, kGoing };
  State state = State::kLive;
  // Differs each time the module is loaded.
  std::uint64_t load = 0;
  // It was loaded at this time or earlier: sysfs stamps a folder at the first access to it, and
  // again after memory was short. See DriverAges.
  std::chrono::system_clock::time_point seen_since;
};

// nullopt: it is neither loaded nor built in.
[[nodiscard]] std::optional<Module> read_module(const HostPaths& host, const std::string& name);

// Remembers for each module the earliest time at which its present load was seen, so that the
// estimate only improves. Not shared between threads.
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
