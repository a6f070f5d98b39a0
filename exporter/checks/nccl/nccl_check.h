// Check 5: all_reduce by all_reduce_perf of nccl-tests, over the GPUs of all nodes of the
// allocation that it runs in, or of this node alone: whether they add up rightly, and how fast.
#pragma once

#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

class NcclCheck final : public Check {
 public:
  [[nodiscard]] CheckOutcome run(const CheckContext& context) override;
};

[[nodiscard]] CheckEntry nccl_entry();

}  // namespace gpuward::exporter
