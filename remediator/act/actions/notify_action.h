// The step `notify`: requests a notification in the status of the Remediation. The writer of that
// status passes the notification to the sinks (policy/notice). The step is done at once and cannot
// fail, and no step waits for a receiver.
#pragma once

#include "remediator/act/actions/step_action.h"

namespace gpuward::remediator {

// The fact with the sinks that the step's plan names, separated by commas. Without this fact all
// sinks get the notification.
inline const std::string kSinksFact = "sinks";

class NotifyAction final : public StepAction {
 public:
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
};

}  // namespace gpuward::remediator
