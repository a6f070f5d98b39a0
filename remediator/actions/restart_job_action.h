// The step `restart-job`: calls the operator's program once a Remediation, after the drain, so that
// jobs that have lost pods here start over as a whole instead of hanging. The program gets one JSON
// object on its stdin:
//
//   {"action":"restart-job","remediation":"...","node":"...","nodeUID":"...","severity":"...",
//    "errorClass":"...","jobs":["JobSet default/train"]}
//
// and answers with its exit code: 0 = done; anything else = not, and the first line of stderr says
// why. Whatever comes of it, the next step follows.
#pragma once

#include "core/runtime/clock.h"
#include "remediator/actions/step_action.h"

namespace gpuward::remediator {

class RestartJobAction final : public StepAction {
 public:
  // begin() blocks until the program has ended, at most the step's timeout.
  [[nodiscard]] Result<StepProgress> begin(const StepOrder& order) override;
  [[nodiscard]] Result<StepProgress> watch(const StepOrder& order) override;
};

}  // namespace gpuward::remediator
