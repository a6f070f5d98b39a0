#include "remediator/safety/fleet.h"

#include <algorithm>

namespace gpuward::remediator {

const FleetNode* Fleet::find(std::string_view uid) const {
  const auto found = nodes.find(uid);
  return found == nodes.end() ? nullptr : &found->second;
}

FleetNode fleet_node(const kube::Node& node, const PlaceKeys& keys) {
  FleetNode made;
  made.name = node.meta.name;
  made.place = place_of(node.meta.labels, keys);
  made.ready = std::ranges::any_of(node.conditions, [](const kube::NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
  made.schedulable = !node.unschedulable;
  return made;
}

}  // namespace gpuward::remediator
