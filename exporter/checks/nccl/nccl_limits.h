// The bus bandwidths in GB/s that an instance type should reach in all_reduce, with the values of
// the suite that gpuward replaces. It has none for p4de, which gets those of p4d. Pure. Used by
// check 5.
#pragma once

#include <string_view>

namespace gpuward::exporter {

struct NcclLimits {
  double all = 0;     // over EFA, several nodes
  double nvlink = 0;  // one node; 0: unknown
};

[[nodiscard]] constexpr NcclLimits nccl_limits(std::string_view type) {
  if (type.starts_with("ml.")) type.remove_prefix(3);
  if (type.starts_with("p4d.") || type.starts_with("p4de.")) return {300, 200};
  if (type.starts_with("p5.") || type.starts_with("p5e.") || type.starts_with("p5en."))
    return {800, 500};
  if (type.starts_with("p6-b200.")) return {900, 600};
  return {};
}

}  // namespace gpuward::exporter
