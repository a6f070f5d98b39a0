// What of the store's findings stands on the Node (core/kube/node_findings), as its publisher
// wishes it to. Used by node_wish; pure.
#pragma once

#include <vector>

#include "core/kube/node_findings.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

// The worst, the newest first among equals, and of the kernel's numbers that no table has the
// newest; at most kMostNodeFindings.
[[nodiscard]] std::vector<NodeFinding> node_findings(const Snapshot& snapshot);

}  // namespace gpuward::exporter
