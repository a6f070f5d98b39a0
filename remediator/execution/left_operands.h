// Operands of the GPU operator that gpuward has paused although no reset needs it any more: the
// Remediation has ended, was cancelled, paused or deleted, the step was withdrawn, or another
// version of gpuward left them. A node without its device plugin runs no GPU pod, so the leader
// resumes them in its slow rounds.
#pragma once

#include <set>
#include <string>

#include "core/model/result.h"
#include "remediator/execution/reconciler_parts.h"

namespace gpuward::remediator {

// Checks all nodes in the view, and reads those again that already seemed left over in the round
// before: between the pause and the Job of a reset, the step has no record for a moment. `left`:
// these nodes, from round to round. An error: a node could not be read or changed; the next round
// tries again. If the permit refuses, nothing is changed.
[[nodiscard]] Status resume_left_operands(const ReconcilerParts& parts,
                                          std::set<std::string>& left);

}  // namespace gpuward::remediator
