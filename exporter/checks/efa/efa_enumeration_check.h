// Check 2, "efa-enumeration": are all EFA devices present, and can programs reach them? It reads
// the PCI bus, RDMA devices, device files, kernel modules, libfabric, GDRCopy and the locked-memory
// limit.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

[[nodiscard]] CheckEntry efa_enumeration_entry();

}  // namespace gpuward::exporter
