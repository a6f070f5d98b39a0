// The step `gpu-reset`: a Job that resets the GPUs of the drained node in place, once. It is
// skipped on nodes on which a reset is known not to work. If it did not work, the next worse
// severity follows; if a process still holds a GPU, the policy chooses between that and an
// operator. Each vendor has its own template: if the vendor of the GPUs is unknown, an operator
// resets them.
//
// The driver resets no GPU that a process has open, and the operands of NVIDIA's GPU operator have
// them open for as long as they run. So the step pauses them first (model/gpu_operands.h). When
// their pods are gone, it withdraws its intent and is decided again, on evidence of that moment;
// then it creates the Job. It resumes the operands whenever it ends, with any result; if that
// fails, execution/left_operands resumes them.
#pragma once

#include <optional>
#include <string>

#include "remediator/actions/step_job.h"
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
  // Includes operands that were turned on after the step was decided: it is then decided again.
  [[nodiscard]] Operands running(const kube::Node& node) const;
  [[nodiscard]] Result<StepProgress> pause(const StepRequest& request, const Operands& operands);
  [[nodiscard]] Result<StepProgress> wait_for_pods(const StepRequest& request,
                                                   const Operands& operands);
  // The progress with all operands resumed, if the step has ended.
  [[nodiscard]] Result<StepProgress> resumed(const StepRequest& request,
                                             Result<StepProgress> progress);
};

}  // namespace gpuward::remediator
