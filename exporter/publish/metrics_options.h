// Options for the exporter's metrics: the names of other exporters, and details that cost series.
// Filled from flags; used by families*.cpp.
#pragma once

#include <string>

namespace gpuward::exporter {

struct MetricsOptions {
  // Adds the names and labels of dcgm-exporter, for its dashboards.
  bool dcgm_compat = false;
  // Adds the names of the EFA node exporter, node_amazonefa_*.
  bool efa_compat = false;
  // Adds one series for each NVLink or XGMI link; by default there are only sums for each GPU.
  bool per_link = false;
  std::string hostname = {};  // for the label Hostname of dcgm-exporter
};

}  // namespace gpuward::exporter
