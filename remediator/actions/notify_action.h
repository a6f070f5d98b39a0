// The step `notify`: requests a notification in the Remediation; the writer of that record hands it
// to the sinks (policy/notice). It is done at once and cannot fail: no step waits for a receiver.
#pragma once

#include "remediator/actions/step_action.h"

namespace gpuward::remediator {

// The fact of the step: the sinks that its plan names, with commas; absent: all.
inline const std::string kSinksFact = "sinks";

class NotifyAction final : public StepAction {
 public:
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
};

}  // namespace gpuward::remediator
