// The step `gpu-reset`: a Job that resets the GPUs of the drained node in place, once. Where that
// is known not to work it is not tried; where it did not work the next worse severity is taken;
// where a process still holds a GPU the policy says which of both, an operator or that. Each vendor
// has a template of its own: where nobody can say whose the GPUs are, an operator resets them.
//
// The driver resets no GPU that a process has open, and the operands of NVIDIA's GPU operator have
// them open for as long as they run. So the step pauses them first (model/gpu_operands.h). When
// their pods are gone, it takes its intent back and is decided again, on evidence of that moment;
// then it makes the Job. The operands are resumed when the step ends, however it ends; where that
// cannot be done, execution/left_operands does it.
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
  // Also one that was turned on since the step was decided: it is decided again then.
  [[nodiscard]] Operands running(const kube::Node& node) const;
  [[nodiscard]] Result<StepProgress> pause(const StepRequest& request, const Operands& operands);
  [[nodiscard]] Result<StepProgress> wait_for_pods(const StepRequest& request,
                                                   const Operands& operands);
  // The progress with all operands resumed, if the step has ended.
  [[nodiscard]] Result<StepProgress> resumed(const StepRequest& request,
                                             Result<StepProgress> progress);
};

}  // namespace gpuward::remediator
