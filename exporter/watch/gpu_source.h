// The source of the GPUs by the flags: the driver, a scenario file, or none. Used by the
// composition root.
#pragma once

#include <memory>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/config/flags.h"
#include "exporter/gpu/report/source.h"

namespace gpuward::exporter {

// kInvalid or kNotFound for a scenario file that cannot be used. Clock and log must outlive it.
[[nodiscard]] Result<std::unique_ptr<GpuSource>> make_gpu_source(const Flags& flags,
                                                                 CurrentGpuTimes times,
                                                                 Clock& clock, Log& log);

}  // namespace gpuward::exporter
