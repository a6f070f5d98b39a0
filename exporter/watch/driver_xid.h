// What an Xid of the driver's event set amounts to: its verdict, and whose work was hit. Pure; used
// by the GpuWatcher for each.
#pragma once

#include "exporter/config/settings.h"
#include "exporter/gpu/report/reading.h"
#include "exporter/store/latched_state.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// The event set has the number and no text: where the text decides (74, 144-150, 154) it is judged
// monitor at most, unless the operator has said otherwise; the line of the kernel log, when it
// comes, may raise it.
[[nodiscard]] Observation observe_xid(const GpuXid& xid, const Policy& policy,
                                      const Snapshot& snapshot);

}  // namespace gpuward::exporter
