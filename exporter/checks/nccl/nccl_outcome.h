// The outcome of a run of all_reduce_perf for this node. A run over several nodes that fails or is
// slow does not say which of them is at fault: it counts against this one only if a line of this
// host complains about its hardware. Pure. Used by check 5.
#pragma once

#include <string>

#include "exporter/checks/check/check.h"
#include "exporter/checks/nccl/nccl_measurements.h"

namespace gpuward::exporter {

struct NcclRun {
  unsigned nodes = 1;
  int exit_code = 0;
  std::string ended;  // how_it_ended(), for people
  std::string said;   // the first 200 bytes of stderr
  NcclMeasurements report;
};

[[nodiscard]] CheckOutcome nccl_outcome(const NcclRun& run, const CheckContext& context);

// Returns what that many nodes should reach, in GB/s; 0: unknown.
[[nodiscard]] double wanted_bus_bandwidth(unsigned nodes, const CheckContext& context);

// Returns "466.7 GB/s".
[[nodiscard]] std::string gigabytes_per_second(double value);

}  // namespace gpuward::exporter
