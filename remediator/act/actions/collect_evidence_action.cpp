#include "remediator/act/actions/collect_evidence_action.h"

namespace gpuward::remediator {

JobConclusion CollectEvidenceAction::judge(const StepRequest&, const JobOutcome& outcome) const {
  const bool is_done = outcome.exit_code == 0;
  return {.result = is_done ? StepResult::kDone : StepResult::kFailed, .message = outcome.message};
}

}  // namespace gpuward::remediator
