// The settings of a sweep under the names of the suite that gpuward replaces: SWEEP_IMAGE,
// SWEEP_NAMESPACE, MAX_NODES_PER_SWEEP, JOB_TIMEOUT, ENABLE_LABEL, ENABLE_TAINT; and under
// gpuward's own names: SWEEP_RUNTIME_CLASS, SWEEP_PULL_SECRETS, SWEEP_CONFIG_MAP. Read by main()
// for `gpuward-exporter sweep`.
#pragma once

#include "core/model/result.h"
#include "exporter/commands/sweep.h"
#include "exporter/config/seed_keys.h"

namespace gpuward::exporter {

// Returns `options` with the values of `lookup`. kInvalid names the wrong key and its allowed
// values.
[[nodiscard]] Result<SweepOptions> read_sweep_options(const SeedLookup& lookup,
                                                      SweepOptions options);

}  // namespace gpuward::exporter
