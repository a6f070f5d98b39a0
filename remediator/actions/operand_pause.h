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

// Of `operands` those whose label is `true` on `node`, which was read a moment ago. Asks `permit`
// right before the patch. kConflict: the node has changed since.
[[nodiscard]] Status pause_operands(kube::Api& api, const kube::Node& node,
                                    const Operands& operands, const Permit& permit);

// All that gpuward has paused on the node of that name and UID, which is read afresh. No error if
// none is paused, or the node is gone or another.
[[nodiscard]] Status resume_operands(kube::Api& api, const std::string& name,
                                     const std::string& uid, const Permit& permit);

}  // namespace gpuward::remediator
