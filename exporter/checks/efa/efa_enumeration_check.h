// Check 2, "efa-enumeration": are all EFA devices there, and can programs reach them: PCI bus, RDMA
// devices, device files, kernel modules, libfabric, GDRCopy, locked memory.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

[[nodiscard]] CheckEntry efa_enumeration_entry();

}  // namespace gpuward::exporter
