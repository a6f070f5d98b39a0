// The step `collect-evidence`: a Job that saves evidence on the node that the next steps would
// destroy. The next step follows even if it fails.
#pragma once

#include "remediator/actions/step_job.h"

namespace gpuward::remediator {

class CollectEvidenceAction final : public StepJob {
 public:
  using StepJob::StepJob;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
};

}  // namespace gpuward::remediator
