// What a user may choose of the exporter's metrics: names that other exporters made known, and
// detail that costs series. Filled from flags; used by families*.cpp.
#pragma once

#include <string>

namespace gpuward::exporter {

struct MetricsOptions {
  // Also the names and labels of dcgm-exporter, so that dashboards made for it light up.
  bool dcgm_compat = false;
  // Also the names of the EFA node exporter, node_amazonefa_*.
  bool efa_compat = false;
  // Also one series for each NVLink or XGMI link; by default they are summed for each GPU.
  bool per_link = false;
  std::string hostname = {};  // for the label Hostname of dcgm-exporter
};

}  // namespace gpuward::exporter
