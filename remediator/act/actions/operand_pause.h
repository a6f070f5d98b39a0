// Pauses and resumes the operands of the GPU operator on a node with one guarded patch of the
// Node's labels (model/gpu_operands.h). Used by the step gpu-reset, and by the sweep that resumes
// operands after an interrupted step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "remediator/model/gpu_operands.h"

namespace gpuward::remediator {

struct NodeOfOperands {
  kube::Api& api;
  const std::string& name;
  const std::string& uid;
  std::string jobs_ns;   // Namespace of gpuward's Jobs.
  const Permit& permit;  // Called right before each patch.
};

// Pauses those operands in `operands` that have the label value `true`. Returns no error if the
// node is gone or has another UID.
[[nodiscard]] Status pause_operands(const NodeOfOperands& node, const Operands& operands);

// Returns whether a pod of a Job of `step` is on the node and has not ended. Such a pod may be
// resetting GPUs or restarting the machine. With kAny, ended pods count too. Pods outside the
// namespace `jobs_ns` never count.
enum class PodLife : std::uint8_t { kLive, kAny };
[[nodiscard]] Result<bool> has_pod_of(Step step, kube::Api& api, const std::string& node,
                                      std::string_view jobs_ns, PodLife life = PodLife::kLive);

// Resumes all operands that gpuward has paused, and returns their names. The result is empty if no
// operand is paused, or if the node is gone or has another UID. Returns kRefused while a pod of a
// reset Job runs on the node, because the reset would find the GPUs in use.
[[nodiscard]] Result<Operands> resume_operands(const NodeOfOperands& node);

}  // namespace gpuward::remediator
