// Rule for the view of a replica: at rest, when the informers have received everything, the view
// equals the cluster.
#pragma once

#include <string>

#include "remediator/cluster/cluster_view.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

void check_view(const Stage& stage, const ClusterView& view, const std::string& replica);

}  // namespace gpuward::remediator::simulation
