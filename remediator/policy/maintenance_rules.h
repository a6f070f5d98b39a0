// The steps after a cloud's announcement about a machine, by kind: the section `maintenance`.
// Announcements of a kind that the section does not name are recorded and notified (reboot,
// redeploy, terminate) or ignored (freeze, rebalance). Used by the source of announcements and by
// decisions about announcements.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "core/model/announcement.h"
#include "core/runtime/yaml.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/step_plan.h"

namespace gpuward::remediator {

struct Policy;

struct MaintenanceRule {
  std::vector<PlannedStep> steps;            // Empty: gpuward only records and notifies.
  std::chrono::milliseconds drain_takes{0};  // Time for the node's drain; 0 without a drain.
};

// Rules by kind. A kind that is not in the map is ignored.
using MaintenanceRules = std::map<AnnouncementKind, MaintenanceRule>;

[[nodiscard]] MaintenanceRules default_maintenance();
// Reads the section `maintenance`. `drain`: the defaults for drains. Faults are reported to the
// file.
[[nodiscard]] MaintenanceRules read_maintenance(const YamlMap& section, const DrainSettings& drain);

// Severity of announcements. It has no other steps, because worse severities take precedence.
inline constexpr Severity kMaintenanceSeverity = Severity::kMonitor;

// Returns the policy for this Remediation. If there is an announcement now, or was one when its
// first step was taken, the steps of severity monitor are the steps of the announcement, and the
// node returns by them. The worst announcement with steps counts. Otherwise returns `policy`.
[[nodiscard]] std::shared_ptr<const Policy> policy_about(std::shared_ptr<const Policy> policy,
                                                         const Remediation& remediation);
// Returns whether the present steps are for an announcement and not for a fault.
[[nodiscard]] bool is_maintenance(const Policy& policy, const Remediation& remediation);

}  // namespace gpuward::remediator
