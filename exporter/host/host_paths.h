// The paths of the node's own trees: a container mounts them at other paths, and tests use recorded
// trees. All of exporter/host takes one.
#pragma once

#include <filesystem>

namespace gpuward::exporter {

struct HostPaths {
  std::filesystem::path proc = "/proc";
  std::filesystem::path sys = "/sys";
  std::filesystem::path dev = "/dev";
};

}  // namespace gpuward::exporter
