// Which GPUs reach each other's memory, and how far apart they are. Expensive (the number of GPUs
// squared), so that NvmlLibrary, who uses it, asks only now and then.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exporter/gpu/nvidia/askable_device.h"
#include "exporter/gpu/nvidia/session.h"
#include "exporter/gpu/report/library.h"

namespace gpuward::exporter::nvml {

// Each ordered pair of different GPUs, in the order of `devices`.
[[nodiscard]] std::vector<PeerStatus> read_peers(const Session& session,
                                                 std::span<const AskableDevice> devices,
                                                 const Progress& progress);

}  // namespace gpuward::exporter::nvml
