#include "remediator/act/actions/notify_action.h"

#include "remediator/act/actions/step_progress.h"

namespace gpuward::remediator {

Result<StepProgress> NotifyAction::begin(const StepRequest& request) {
  std::string names;
  for (const std::string& sink : request.step.sinks) names += (names.empty() ? "" : ",") + sink;
  StepProgress progress = progress_of(request, StepResult::kDone,
                                      "handed over to " + (names.empty() ? "all sinks" : names));
  if (!names.empty()) progress.facts[kSinksFact] = names;
  return progress;
}

// Does the same as begin(). The process that wrote the intent died before it recorded the result.
Result<StepProgress> NotifyAction::watch(const StepRequest& request) { return begin(request); }

}  // namespace gpuward::remediator
