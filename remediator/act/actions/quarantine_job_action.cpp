#include "remediator/act/actions/quarantine_job_action.h"

namespace gpuward::remediator {

JobConclusion QuarantineJobAction::judge(const StepRequest& request,
                                         const JobOutcome& outcome) const {
  if (outcome.exit_code == 0) {
    const bool is_nccl = request.step.step == Step::kNcclTest;
    return {.result = StepResult::kDone,
            .message = is_nccl ? "the NCCL test passed" : "the diagnostics passed"};
  }
  return {.message = outcome.message, .needs_operator = !has_failed_check(outcome)};
}

}  // namespace gpuward::remediator
