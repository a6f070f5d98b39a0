// The reaction to a cloud's announcements about a machine, by kind: the section `maintenance`. A
// kind that it does not name is recorded and notified (reboot, redeploy, terminate) or ignored
// (freeze, rebalance). Used by the source of announcements and by each decision about one.
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
  std::vector<PlannedStep> steps;            // empty: only recorded and notified
  std::chrono::milliseconds drain_takes{0};  // time for its drain; 0 without one
};

// By kind; a kind that is not in the map is ignored.
using MaintenanceRules = std::map<AnnouncementKind, MaintenanceRule>;

[[nodiscard]] MaintenanceRules default_maintenance();
// `drain`: the defaults for drains. Faults are reported to the file.
[[nodiscard]] MaintenanceRules read_maintenance(const YamlMap& section, const DrainSettings& drain);

// Announcements have severity monitor, which has no other steps: anything worse goes first.
inline constexpr Severity kMaintenanceSeverity = Severity::kMonitor;

// Returns the policy for this Remediation. If there is an announcement, or was one when its first
// step was taken, the steps of severity monitor are those of the announcement, and the node returns
// by them. If there are several announcements, the worst that has steps counts. Otherwise returns
// the same policy.
[[nodiscard]] std::shared_ptr<const Policy> policy_about(std::shared_ptr<const Policy> policy,
                                                         const Remediation& remediation);
// Whether the present steps belong to such a plan: they rest on an announcement, and on no fault.
[[nodiscard]] bool is_maintenance(const Policy& policy, const Remediation& remediation);

}  // namespace gpuward::remediator
