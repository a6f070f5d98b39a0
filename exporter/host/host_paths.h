// Where the node's own trees are: a container mounts them elsewhere, tests record them. Everything
// in exporter/host takes one.
#pragma once

#include <filesystem>

namespace gpuward::exporter {

struct HostPaths {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  std::filesystem::path dev = "/dev";
};

}  // namespace gpuward::exporter
