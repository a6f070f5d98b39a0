#include "remediator/actions/notify_action.h"

#include "remediator/actions/step_progress.h"

namespace gpuward::remediator {

Result<StepProgress> NotifyAction::begin(const StepRequest& order) {
  std::string names;
  for (const std::string& sink : order.step.sinks) names += (names.empty() ? "" : ",") + sink;
  StepProgress progress = progress_of(order, StepResult::kDone,
                                      "handed over to " + (names.empty() ? "all sinks" : names));
  if (!names.empty()) progress.facts[kSinksFact] = names;
  return progress;
}

// Whoever wrote the intent has died before the word was written down.
Result<StepProgress> NotifyAction::watch(const StepRequest& order) { return begin(order); }

}  // namespace gpuward::remediator
