#include "tests/simulation/view_rules.h"

#include "remediator/cluster/view_queries.h"

namespace gpuward::remediator::simulation {

void check_view(const Stage& stage, const ClusterView& view, const std::string& replica) {
  const auto seen = nodes_since(view, WallTime::min());
  require(seen.size() == stage.truth.nodes().size(), "view",
          replica + " knows of " + std::to_string(seen.size()) + " nodes, and there are " +
              std::to_string(stage.truth.nodes().size()));
  for (const auto& node : seen) {
    const NodeTruth* const known = stage.truth.node(node->meta.name);
    require(known != nullptr, "view", replica + " knows of " + node->meta.name + ", which is gone");
    require(known->node.meta.resource_version == node->meta.resource_version, "view",
            replica + " knows " + node->meta.name + " as it was");
  }
  std::size_t known = 0;
  for_each_remediation(view, [&](const Remediation& one) {
    ++known;
    const Remediation* const now = stage.truth.remediation(one.name);
    require(now != nullptr, "view", replica + " knows of " + one.name + ", which is gone");
    require(now->resource_version == one.resource_version, "view",
            replica + " knows " + one.name + " as it was");
  });
  require(known == stage.truth.remediations().size(), "view",
          replica + " does not know all Remediations");
}

}  // namespace gpuward::remediator::simulation
