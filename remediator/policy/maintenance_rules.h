// What is done about what a cloud announces of a machine, by kind: the section `maintenance`. A
// kind that it does not name is recorded and notified (reboot, redeploy, terminate) or not taken up
// at all (freeze, rebalance). Used by the source of announcements and by each decision about one.
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
  std::vector<PlannedStep> steps;            // empty: recorded and notified
  std::chrono::milliseconds drain_takes{0};  // of its drain, 0 without one
};

// By kind; a kind that is not there is not taken up.
using MaintenanceRules = std::map<AnnouncementKind, MaintenanceRule>;

[[nodiscard]] MaintenanceRules default_maintenance();
// Drains as `drain` says where the step does not say otherwise. Faults are reported to the file.
[[nodiscard]] MaintenanceRules read_maintenance(const YamlMap& section, const DrainSettings& drain);

// Announcements are of severity monitor, which has no steps else: so whatever is worse goes first.
inline constexpr Severity kMaintenanceSeverity = Severity::kMonitor;

// The policy as it is for this Remediation: where something is announced, or was when its first
// step was taken, the steps of that are those of severity monitor, and the node returns by them. Of
// several announcements the worst that has steps counts. Else the same policy.
[[nodiscard]] std::shared_ptr<const Policy> policy_about(std::shared_ptr<const Policy> policy,
                                                         const Remediation& remediation);
// Whether the steps that are taken now are of such a plan: they rest on what is announced, and on
// no fault.
[[nodiscard]] bool is_maintenance(const Policy& policy, const Remediation& remediation);

}  // namespace gpuward::remediator
