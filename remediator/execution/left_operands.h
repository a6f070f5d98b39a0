// Operands of the GPU operator that gpuward has paused and that no reset needs paused any more: the
// Remediation has ended, was cancelled, was paused by an operator or was deleted, the step was
// taken back, or another version of gpuward left them. A node without its device plugin runs no GPU
// pod, so the slow rounds of the leader resume them.
#pragma once

#include <set>
#include <string>

#include "core/model/result.h"
#include "remediator/execution/reconciler_parts.h"

namespace gpuward::remediator {

// Looks at all nodes as they were last seen, and reads afresh those that seemed left in the round
// before too: between the pause and the Job of a reset, the step has no record for a moment.
// `left`: these nodes, from round to round. An error: a node could not be read or changed; the next
// round tries again. If the permit says no, nothing is changed.
[[nodiscard]] Status resume_left_operands(const ReconcilerParts& parts,
                                          std::set<std::string>& left);

}  // namespace gpuward::remediator
