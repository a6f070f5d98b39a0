#include "tests/simulation/told.h"

namespace gpuward::remediator::simulation {

Status Told::deliver(const kube::NodeEvent& event) {
  if (stage_.is_off(Sabotage::kAnnouncement)) return {};
  if (!stage_.is_quiet && stage_.chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kUnavailable, "nobody can be told");
  said_.emplace(event.message.substr(0, event.message.find(':')), event.reason);
  return {};
}

}  // namespace gpuward::remediator::simulation
