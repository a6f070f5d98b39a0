// Chooses the reader of a kernel log by the kind of its path: a character device is /dev/kmsg (or a
// bind mount of it), anything else is a file or a FIFO.
#pragma once

#include <memory>
#include <string>

#include "core/runtime/clock.h"
#include "exporter/kernel_log/source.h"

namespace gpuward::exporter {

// Opens nothing yet: the first read() does, and reports errors. `clock` must outlive it.
[[nodiscard]] std::unique_ptr<KernelLogSource> open_kernel_log(const std::string& path,
                                                               const std::string& boot_id,
                                                               const LogPosition& start,
                                                               const StartMoment& moment,
                                                               const Clock& clock);

}  // namespace gpuward::exporter
