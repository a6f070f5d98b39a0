// The step `restart-job`: calls the operator's program once a Remediation, after the drain, so that
// jobs that have lost pods here start over as a whole instead of hanging. The program gets one JSON
// object on its stdin:
//
//   {"action":"restart-job","remediation":"...","node":"...","nodeUID":"...","severity":"...",
//    "errorClass":"...","jobs":["JobSet default/train"]}
//
// and answers with its exit code: 0 = done; anything else = not, and the first line of stderr says
// why. Whatever comes of it, the next step follows. It runs beside the workflow, which has other
// nodes to look after.
#pragma once

#include "core/runtime/child_runs.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_action.h"

namespace gpuward::remediator {

class RestartJobAction final : public StepAction {
 public:
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  static constexpr std::size_t kMostPrograms = 32;  // at once
  ChildRuns runs_{lasting_clock(), kMostPrograms};
};

}  // namespace gpuward::remediator
