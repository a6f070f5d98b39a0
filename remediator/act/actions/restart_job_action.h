// The step `restart-job`: restarts whole jobs that lost pods on this node, so that the jobs do not
// hang. It runs once per Remediation, after the drain. The next step follows with any result.
//
// If the policy names no program, gpuward restarts each job with the method of its kind
// (model/job_kinds.cpp). begin() changes nothing: it only records that gpuward restarts the jobs,
// so that the record exists before the first change. A suspended job is always resumed, by watch()
// or by abandon() if the step ends early.
//
// If the policy names a program, gpuward calls the program instead. The program gets one JSON
// object on its stdin:
//
// {"action":"restart-job","remediation":"...","node":"...","nodeUID":"...","severity":"...",
// "errorClass":"...","jobs":["JobSet default/train"]}
//
// The exit code 0 means done. With any other code the jobs were not restarted, and the first line
// of stderr says why. The program runs in the background, because the loop serves other nodes too.
#pragma once

#include "core/kube/api.h"
#include "core/runtime/child_runs.h"
#include "core/runtime/clock.h"
#include "remediator/act/actions/step_action.h"
#include "remediator/act/restart/job_restarter.h"

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

  static constexpr std::size_t kMostPrograms = 32;  // Limit for programs that run at the same time.
  ChildRuns runs_{lasting_clock(), kMostPrograms};
  JobRestarter restarter_;
};

}  // namespace gpuward::remediator
