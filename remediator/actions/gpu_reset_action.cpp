#include "remediator/actions/gpu_reset_action.h"

namespace gpuward::remediator {
namespace {

// As nvidia-smi --gpu-reset says it: "GPU 00000000:F9:00.0: In use by another client", "4 devices
// are currently being used by one or more other processes (e.g., Fabric Manager, ...)".
bool says_busy(const std::string& words) {
  return words.find("In use by another client") != std::string::npos ||
         words.find("in use by another process") != std::string::npos ||
         words.find("by one or more other processes") != std::string::npos;
}

}  // namespace

std::optional<std::string> GpuResetAction::why_pointless(const StepRequest& request) const {
  for (const std::string& prefix : request.step.job.not_on) {
    if (request.node.provider_id.starts_with(prefix)) {
      return "a reset in place is not tried on " + prefix + " (not_on in the policy)";
    }
  }
  return std::nullopt;
}

JobConclusion GpuResetAction::judge(const StepRequest& request, const JobOutcome& outcome) const {
  if (outcome.exit_code == 0) {
    return {.result = StepResult::kDone, .message = "the GPUs are reset: " + outcome.message};
  }
  if (says_busy(outcome.words)) {
    return {.message = "a process holds a GPU: " + outcome.message,
            .needs_operator = !request.step.job.escalates_when_busy,
            .has_acted = false};
  }
  const bool has_started = outcome.has_run && !could_not_start(outcome);
  return {.message = outcome.message, .needs_operator = !has_started, .has_acted = has_started};
}

}  // namespace gpuward::remediator
