// Whether a program runs on this node, by the names in /proc. Used by checks that must not get in
// somebody's way, or that need somebody's service.
#pragma once

#include <optional>
#include <string_view>

#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

// The lowest pid whose `comm` is `name` (the kernel keeps 15 bytes of it). nullopt: none, or /proc
// cannot be read, or it is not the node's (a container without hostPID).
[[nodiscard]] std::optional<int> find_process(const HostPaths& host, std::string_view name);

}  // namespace gpuward::exporter
