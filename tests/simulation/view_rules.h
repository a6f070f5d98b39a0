// What the informers have put into the view of a replica is what there is: at rest, when they have
// been told everything.
#pragma once

#include <string>

#include "remediator/records/cluster_view.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

void check_view(const Stage& stage, const ClusterView& view, const std::string& replica);

}  // namespace gpuward::remediator::simulation
