// What the kernel log of this boot says, read once to its end: for the check command on a node
// where no exporter has kept it.
#pragma once

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "exporter/config/settings.h"
#include "exporter/kernel_log/source.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Judged with the GPUs that the store has, and written into it. Ends when nothing more is there, or
// after two seconds. An error where nothing could be read.
[[nodiscard]] Status scan_kernel_log(KernelLogSource& source, const Policy& policy, Clock& clock,
                                     Store& store);

}  // namespace gpuward::exporter
