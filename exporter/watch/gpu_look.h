// One look at the GPUs of the node, for commands that run to their end instead of watching them.
// Used by check and nccl-pair.
#pragma once

#include <chrono>
#include <stop_token>

#include "core/runtime/clock.h"
#include "exporter/gpu/report/source.h"

namespace gpuward::exporter {

// The first answer of the driver, or why there is none. `timeout` is of one reading; the first may
// take three times as long, as in the exporter. Blocks a few seconds longer at most: the worker has
// to start first.
[[nodiscard]] GpuTelemetry look_at_gpus(GpuSource& source, std::chrono::milliseconds timeout,
                                        Clock& clock, const std::stop_token& stop);

}  // namespace gpuward::exporter
