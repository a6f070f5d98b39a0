// Pauses the operands of the GPU operator on a node, and resumes them, by one guarded patch of the
// Node's labels (model/gpu_operands.h). Used by the step gpu-reset, and by the sweep that resumes
// operands that were left paused.
#pragma once

#include <string>

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "remediator/model/gpu_operands.h"

namespace gpuward::remediator {

struct NodeOfOperands {
  kube::Api& api;
  const std::string& name;
  const std::string& uid;
  const Permit& permit;  // asked right before each patch
};

// Pauses those of `operands` whose label is `true`. No error if the node is gone or another.
[[nodiscard]] Status pause_operands(const NodeOfOperands& node, const Operands& operands);

// Whether a pod of that step's Job runs on the node: it may be resetting GPUs, or restarting the
// machine.
[[nodiscard]] Result<bool> has_pod_of(Step step, kube::Api& api, const std::string& node);

// Resumes all that gpuward has paused; the result says which. None if none is paused, or the node
// is gone or another. kRefused while a pod of a reset Job runs there, which would find the GPUs in
// use.
[[nodiscard]] Result<Operands> resume_operands(const NodeOfOperands& node);

}  // namespace gpuward::remediator
