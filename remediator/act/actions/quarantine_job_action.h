// The steps `quarantine-job` and `nccl-test`: a Job on the drained node runs the long diagnostics,
// or all_reduce alone (`gpuward-exporter quarantine`). A failure that a check names is a fault of
// the node. Any other failure says nothing about the node, and an operator must look.
#pragma once

#include "remediator/act/actions/step_job.h"

namespace gpuward::remediator {

class QuarantineJobAction final : public StepJob {
 public:
  using StepJob::StepJob;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
};

}  // namespace gpuward::remediator
