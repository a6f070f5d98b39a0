// Identifies the Node and the machine behind it for which alerts are recorded. Plain values; used
// by the intake, the view and the history of machines.
#pragma once

#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/model/machine_identity.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct NodeIdentity {
  std::string name, uid, boot_id, instance_id;
  std::optional<WallTime> created;
  std::string system_uuid = {};
};

[[nodiscard]] NodeIdentity identity_of(const kube::Node& node);
[[nodiscard]] MachineIdentity machine_of(const NodeIdentity& node);
[[nodiscard]] MachineIdentity machine_of(const Remediation& remediation);

}  // namespace gpuward::remediator
