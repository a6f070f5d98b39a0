#include "remediator/cluster/gates/stop_switch.h"

#include <utility>

namespace gpuward::remediator {

StopSwitch::StopSwitch(kube::Api& api, SwitchPlace place) : api_(api), place_(std::move(place)) {}

Status StopSwitch::permit() {
  return reads_.ask(
      [this] { return permission_of(place_, api_.get_config_map(place_.ns, place_.config_map)); });
}

}  // namespace gpuward::remediator
