// The step `collect-evidence`: runs a Job that saves evidence from the node before the next steps
// destroy it. Used by act/actions/all.cpp. The next step follows even if the Job fails.
#pragma once

#include "remediator/act/actions/step_job.h"

namespace gpuward::remediator {

class CollectEvidenceAction final : public StepJob {
 public:
  using StepJob::StepJob;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
};

}  // namespace gpuward::remediator
