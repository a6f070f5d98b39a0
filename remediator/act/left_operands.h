// Resumes operands of the GPU operator that gpuward has paused and that no reset needs any more.
// The Remediation may have ended, been cancelled, paused or deleted, the step may be withdrawn, or
// another version of gpuward left the operands. A node without its device plugin runs no GPU pod,
// so the leader resumes them in its slow rounds.
#pragma once

#include <set>
#include <string>

#include "core/model/result.h"
#include "remediator/act/reconciler_parts.h"

namespace gpuward::remediator {

// Checks all nodes in the view, and resumes operands on nodes that were already in `left` in the
// round before. The delay is needed because the step has no record for a moment between the pause
// and the Job of a reset. `left` is updated in each round. After an error the next round tries
// again. If the permit refuses, nothing is changed.
[[nodiscard]] Status resume_left_operands(const ReconcilerParts& parts,
                                          std::set<std::string>& left);

}  // namespace gpuward::remediator
