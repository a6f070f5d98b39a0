#include "remediator/actions/quarantine_job_action.h"

namespace gpuward::remediator {
namespace {

constexpr int kChecksFailed = 1;  // of gpuward-exporter; also where a check could not tell
constexpr const char* kFailedCheck = "\"status\":\"fail\"";  // in the line that each check prints

}  // namespace

JobVerdict QuarantineJobAction::judge(const StepOrder& order, const JobOutcome& outcome) const {
  if (outcome.exit_code == 0) {
    const bool is_nccl = order.step.step == Step::kNcclTest;
    return {.result = StepResult::kDone,
            .message = is_nccl ? "the NCCL test passed" : "the diagnostics passed"};
  }
  const bool a_check_failed =
      outcome.exit_code == kChecksFailed && outcome.words.find(kFailedCheck) != std::string::npos;
  return {.message = outcome.message, .needs_human = !a_check_failed};
}

}  // namespace gpuward::remediator
