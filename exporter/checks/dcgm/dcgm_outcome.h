// From a verdict on DCGM's report to the outcome of the check: DCGM's numbers become PCI addresses,
// GPUs that nobody has tested are no proof. Pure. Used by checks 1 and 4.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/gpu.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/dcgm/dcgm_faults.h"

namespace gpuward::exporter {

// The GPU that DCGM calls `number`: by its serial number where DCGM tells it (the two may count
// differently after a GPU was lost), else by the driver's index; nullptr for one that nobody knows.
[[nodiscard]] const Gpu* gpu_of_dcgm(int number, const DcgmDiagnostic& report,
                                     const std::vector<Gpu>& gpus);

// `gpus`: what the exporter knows; empty where it knows none.
[[nodiscard]] CheckOutcome dcgm_outcome(const DcgmDiagnostic& report, const DcgmFaults& verdict,
                                        const std::vector<Gpu>& gpus);

}  // namespace gpuward::exporter
