// Check 5: runs all_reduce_perf of nccl-tests over the GPUs of all nodes of its allocation, or of
// this node alone, and checks that the results are right and the bandwidth is high enough.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

class NcclCheck final : public Check {
 public:
  [[nodiscard]] CheckOutcome run(const CheckContext& context) override;
};

[[nodiscard]] CheckEntry nccl_entry();

}  // namespace gpuward::exporter
