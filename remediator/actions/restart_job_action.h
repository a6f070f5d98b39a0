// The step `restart-job`: once a Remediation, after the drain, the jobs that have lost pods here
// start over as a whole instead of hanging. Whatever comes of it, the next step follows.
//
// Without a program gpuward restarts each by the means of its kind (restart/job_kinds.cpp). begin()
// changes nothing: it only says in the record who restarts, so that whatever crashes later finds
// the record before the first change. What is suspended is always resumed: by watch(), or where the
// step is not watched any more by abandon().
//
// With a program that is called instead. It gets one JSON object on its stdin:
//
//   {"action":"restart-job","remediation":"...","node":"...","nodeUID":"...","severity":"...",
//    "errorClass":"...","jobs":["JobSet default/train"]}
//
// and answers with its exit code: 0 = done; anything else = not, and the first line of stderr says
// why. It runs beside the loop, which has other nodes to look after.
#pragma once

#include "core/kube/api.h"
#include "core/runtime/child_runs.h"
#include "core/runtime/clock.h"
#include "remediator/actions/step_action.h"
#include "remediator/restart/job_restarter.h"

namespace gpuward::remediator {

class RestartJobAction final : public StepAction {
 public:
  explicit RestartJobAction(kube::Api& api) : restarter_(api) {}
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  // Ends the program, resumes what is suspended.
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  [[nodiscard]] StepProgress restart_jobs(const StepRequest& request);
  [[nodiscard]] StepProgress watch_program(const StepRequest& request);

  static constexpr std::size_t kMostPrograms = 32;  // at once
  ChildRuns runs_{lasting_clock(), kMostPrograms};
  JobRestarter restarter_;
};

}  // namespace gpuward::remediator
