// The step `gpu-reset`: a Job that resets the GPUs of the drained node in place, once. Where that
// is known not to work it is not tried; where it did not work the next worse severity is taken;
// where a process still holds a GPU the policy says which of both, an operator or that. Each vendor
// has a template of its own: where nobody can say whose the GPUs are, an operator resets them.
#pragma once

#include "remediator/actions/step_job.h"

namespace gpuward::remediator {

class GpuResetAction final : public StepJob {
 public:
  using StepJob::StepJob;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
  [[nodiscard]] std::optional<JobConclusion> refusal(const StepRequest& request,
                                                     const JobsPolicy& jobs) const override;
};

}  // namespace gpuward::remediator
