// Check 3, "topology": can the GPUs reach each other the way this instance type promises: NVLinks,
// the peer-to-peer matrix, the fabric and who manages it, link errors since the last check.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

[[nodiscard]] CheckEntry topology_entry();

}  // namespace gpuward::exporter
