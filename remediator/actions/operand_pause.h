// Pauses the operands of the GPU operator on a node, and resumes them, by one guarded patch of the
// Node's labels (model/gpu_operands.h). Used by the step gpu-reset, and by the sweep that resumes
// operands that were left paused.
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
  std::string jobs_ns;   // the namespace of gpuward's Jobs
  const Permit& permit;  // called right before each patch
};

// Pauses those of `operands` whose label is `true`. Returns no error if the node is gone or is
// another one.
[[nodiscard]] Status pause_operands(const NodeOfOperands& node, const Operands& operands);

// Whether a pod of that step's Job is on the node and has not ended: it may be resetting GPUs, or
// restarting the machine. kAny: also one that has ended. A pod in another namespace than `jobs_ns`
// does not count, regardless of its labels.
enum class PodLife : std::uint8_t { kLive, kAny };
[[nodiscard]] Result<bool> has_pod_of(Step step, kube::Api& api, const std::string& node,
                                      std::string_view jobs_ns, PodLife life = PodLife::kLive);

// Resumes all operands that gpuward has paused, and returns them; empty if none is paused, or if
// the node is gone or is another one. kRefused while a pod of a reset Job runs there, which would
// find the GPUs in use.
[[nodiscard]] Result<Operands> resume_operands(const NodeOfOperands& node);

}  // namespace gpuward::remediator
