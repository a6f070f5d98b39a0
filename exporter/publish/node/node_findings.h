// Selects the findings of the store that the publisher writes to the Node
// (core/kube/node_findings). Used by node_wish; pure.
#pragma once

#include <vector>

#include "core/kube/node_findings.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// Returns the worst findings, the newest first among equals, and the newest of the kernel's numbers
// that no table has; at most kMostNodeFindings.
[[nodiscard]] std::vector<NodeFinding> node_findings(const Snapshot& snapshot);

}  // namespace gpuward::exporter
