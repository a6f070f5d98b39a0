// The step `gpu-reset`: a Job resets the GPUs of the drained node in place, once. Nodes on which a
// reset is known to fail skip the step. After a failed reset the steps of the next worse severity
// follow. If a process still holds a GPU, the policy chooses between the next severity and an
// operator. Each vendor has its own template. If the vendor of the GPUs is unknown, an operator
// resets them.
//
// The driver does not reset a GPU that a process has open, and the operands of NVIDIA's GPU
// operator keep the GPUs open. So the step pauses the operands first (model/gpu_operands.h). When
// their pods are gone, the step withdraws its intent, and decide() decides the step again on
// current evidence. Then the step creates the Job. The step resumes the operands whenever it ends.
// If that fails, act/left_operands resumes them.
#pragma once

#include <optional>
#include <string>

#include "remediator/act/actions/step_job.h"
#include "remediator/model/gpu_operands.h"

namespace gpuward::remediator {

class GpuResetAction final : public StepJob {
 public:
  using StepJob::StepJob;
  [[nodiscard]] Facts facts_before(const kube::Node& node) const override;
  [[nodiscard]] Result<std::optional<std::string>> obstacle(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> begin(const StepRequest& request) override;
  [[nodiscard]] Result<StepProgress> watch(const StepRequest& request) override;
  [[nodiscard]] Status abandon(const StepRequest& request) override;

 private:
  [[nodiscard]] JobConclusion judge(const StepRequest& request,
                                    const JobOutcome& outcome) const override;
  [[nodiscard]] std::optional<JobConclusion> refusal(const StepRequest& request,
                                                     const JobsPolicy& jobs) const override;
  // Returns the operands that run on the node, including operands that were turned on after the
  // step was decided. In that case decide() decides the step again.
  [[nodiscard]] Operands running(const kube::Node& node) const;
  [[nodiscard]] Result<StepProgress> pause(const StepRequest& request, const Operands& operands);
  [[nodiscard]] Result<StepProgress> wait_for_pods(const StepRequest& request,
                                                   const Operands& operands);
  // Resumes all operands if `progress` ends the step, and returns `progress`.
  [[nodiscard]] Result<StepProgress> resumed(const StepRequest& request,
                                             Result<StepProgress> progress);
};

}  // namespace gpuward::remediator
