// Check 5: all_reduce over the GPUs of this node, by all_reduce_perf of nccl-tests. Several nodes
// are a launcher's business; what one node can say of itself is whether its GPUs add up rightly and
// how fast NVLink is.
#pragma once

#include <memory>
#include <string>

#include "exporter/checks/check.h"
#include "exporter/checks/nccl_report.h"

namespace gpuward::exporter {

class NcclCheck final : public Check {
 public:
  [[nodiscard]] CheckOutcome run(const CheckContext& context) override;
};

// What a run of all_reduce_perf amounts to. Pure. `ended`: how_it_ended() for people.
[[nodiscard]] CheckOutcome nccl_outcome(const NcclReport& report, int exit_code,
                                        const std::string& ended, const CheckContext& context);

[[nodiscard]] CheckEntry nccl_entry();

}  // namespace gpuward::exporter
