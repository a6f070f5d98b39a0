#include "remediator/actions/gpu_reset_action.h"

#include <utility>

#include "remediator/model/gpu_vendor.h"
#include "remediator/policy/reset_rules.h"

namespace gpuward::remediator {
namespace {

// As nvidia-smi --gpu-reset says it: "GPU 00000000:F9:00.0: In use by another client", "4 devices
// are currently being used by one or more other processes (e.g., Fabric Manager, ...)". AMD's tools
// ask nobody: there it is the Job's own word.
bool says_busy(const std::string& words) {
  return words.contains("In use by another client") ||
         words.contains("in use by another process") ||
         words.contains("by one or more other processes");
}

JobConclusion for_operator(std::string message) {
  return {.message = std::move(message), .needs_operator = true};
}

}  // namespace

std::optional<JobConclusion> GpuResetAction::refusal(const StepRequest& request,
                                                     const JobsPolicy& jobs) const {
  for (const std::string& prefix : request.step.job.not_on) {
    if (request.node.provider_id.starts_with(prefix)) {
      return JobConclusion{.message = "an in-place reset is not attempted on " + prefix +
                                      " (not_on in the policy)"};
    }
  }
  const auto vendor = gpu_vendor(request.node);
  if (!vendor) return for_operator("cannot tell how to reset its GPUs: " + vendor.error().message);
  if (auto why = objection_to_reset(request.step.job, jobs, *vendor))
    return for_operator("the node has " + std::string(name_of(*vendor)) + " GPUs, and " + *why);
  return std::nullopt;
}

JobConclusion GpuResetAction::judge(const StepRequest& request, const JobOutcome& outcome) const {
  if (outcome.exit_code == 0) {
    return {.result = StepResult::kDone, .message = "the GPUs were reset: " + outcome.message};
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
