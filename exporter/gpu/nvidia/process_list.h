// The compute processes on a GPU. A piece of its own because drivers disagree about the size of an
// entry under one and the same function name: the driver is measured, not believed. Used by
// modes.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exporter/gpu/nvidia/device_query.h"

namespace gpuward::exporter::nvml {

// What a process list is filled with before the driver writes into it.
constexpr std::uint8_t kUntouched = 0xA5;
constexpr std::size_t kLargestEntry = 32;

// How many bytes an entry has, from how far the driver has written: 16 (before R450), 24, or 32
// (R535 before 535.104: github.com/XuehaiPan/nvitop/pull/79). 0 where it has written less than
// `count` entries of any size.
[[nodiscard]] std::size_t entry_bytes(std::span<const std::uint8_t> buffer, std::size_t count);

// Absent where the driver tells no processes.
[[nodiscard]] Maybe<std::vector<GpuProcess>> list_processes(DeviceQuery& query);

}  // namespace gpuward::exporter::nvml
