// The verdict on an Xid of the driver's event set, and the affected workload. Pure; the GpuWatcher
// calls it for each.
#pragma once

#include "exporter/config/settings.h"
#include "exporter/gpu/report/reading.h"
#include "exporter/store/latched_state.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// The event set has the number but no text. If the text decides (74, 144-150, 154), the verdict is
// monitor at most, unless the operator has set another one; the line of the kernel log may raise it
// later.
[[nodiscard]] Observation observe_xid(const GpuXid& xid, const Policy& policy,
                                      const Snapshot& snapshot);

}  // namespace gpuward::exporter
