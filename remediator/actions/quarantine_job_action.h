// The steps `quarantine-job` and `nccl-test`: a Job that runs the long diagnostics, or all_reduce
// alone, on the drained node (`gpuward-exporter quarantine`). A failure that a check names is the
// node's; any other failure says nothing about the node and needs an operator.
#pragma once

#include "remediator/actions/step_job.h"

namespace gpuward::remediator {

class QuarantineJobAction final : public StepJob {
 public:
  using StepJob::StepJob;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
};

}  // namespace gpuward::remediator
