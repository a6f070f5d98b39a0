// The step `restart-job`: once a Remediation, after the drain, restarts the jobs that have lost
// pods here as a whole, so that they do not hang. The next step follows with any result.
//
// Without a program gpuward restarts each job by the means of its kind (restart/job_kinds.cpp).
// begin() changes nothing: it only records that gpuward restarts the jobs, so that after a crash
// the record exists before the first change. A suspended job is always resumed: by watch(), or by
// abandon() if the step is no longer watched.
//
// If the policy names a program, that is called instead. It gets one JSON object on its stdin:
//
//   {"action":"restart-job","remediation":"...","node":"...","nodeUID":"...","severity":"...",
//    "errorClass":"...","jobs":["JobSet default/train"]}
//
// and answers with its exit code: 0 = done; any other code = not, and the first line of stderr says
// why. It runs in the background, because the loop serves other nodes too.
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
  // Ends the program, and resumes suspended jobs.
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  [[nodiscard]] StepProgress restart_jobs(const StepRequest& request);
  [[nodiscard]] StepProgress watch_program(const StepRequest& request);

  static constexpr std::size_t kMostPrograms = 32;  // at once
  ChildRuns runs_{lasting_clock(), kMostPrograms};
  JobRestarter restarter_;
};

}  // namespace gpuward::remediator
