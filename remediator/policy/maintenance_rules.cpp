#include "remediator/policy/maintenance_rules.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "remediator/model/announced.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {
namespace {

const PlannedStep* find(const std::vector<PlannedStep>& steps, Step step) {
  const auto found = std::ranges::find(steps, step, &PlannedStep::step);
  return found == steps.end() ? nullptr : &*found;
}

MaintenanceRule read_rule(const YamlMap& map, const DrainSettings& drain) {
  MaintenanceRule rule;
  rule.steps = read_plan(map, "steps", drain, "the steps; default: record and notify only");
  for (const Step step : {Step::kGpuReset, Step::kReboot, Step::kTerminate}) {
    if (find(rule.steps, step) != nullptr)
      map.reject("steps",
                 "gpuward does not reset, restart or terminate a machine because of an "
                 "announcement: remove " +
                     std::string(to_string(step)));
  }
  const PlannedStep* const drained = find(rule.steps, Step::kDrain);
  if (drained != nullptr) rule.drain_takes = drained->drain.deadline;
  map.read(
      "drain_takes", rule.drain_takes, std::chrono::seconds(0), std::chrono::hours(24 * 7),
      "how long before the maintenance begins the drain starts; default: the drain's deadline");
  if (drained == nullptr && rule.drain_takes.count() > 0)
    map.reject("drain_takes", "has no effect without the step drain");
  return rule;
}

std::optional<AnnouncementKind> worst_kind(const Policy& policy, const Remediation& remediation,
                                           bool is_firing) {
  std::optional<AnnouncementKind> worst;
  for (const AlertEvidence& alert : remediation.alerts) {
    const auto kind = announced_kind(alert);
    if (!kind || alert.firing() != is_firing) continue;
    const auto rule = policy.maintenance.find(*kind);
    const bool has_steps = rule != policy.maintenance.end() && !rule->second.steps.empty();
    if (has_steps && (!worst || *worst < *kind)) worst = kind;
  }
  return worst;
}

}  // namespace

MaintenanceRules default_maintenance() {
  return {{AnnouncementKind::kReboot, {}},
          {AnnouncementKind::kRedeploy, {}},
          {AnnouncementKind::kTerminate, {}}};
}

MaintenanceRules read_maintenance(const YamlMap& section, const DrainSettings& drain) {
  MaintenanceRules rules = default_maintenance();
  for (std::size_t i = 0; i < kAnnouncementKinds.size(); ++i) {
    const std::string_view word = kAnnouncementKinds[i];
    const bool is_default = rules.contains(static_cast<AnnouncementKind>(i));
    const YamlMap map =
        section.map(word, is_default ? "announcements of this kind"
                                     : "announcements of this kind; default: no remediation");
    MaintenanceRule rule = read_rule(map, drain);
    if (section.has(word)) rules.insert_or_assign(static_cast<AnnouncementKind>(i), rule);
  }
  return rules;
}

std::shared_ptr<const Policy> policy_about(std::shared_ptr<const Policy> policy,
                                           const Remediation& remediation) {
  auto kind = worst_kind(*policy, remediation, true);
  if (!kind && !remediation.status.steps.empty()) kind = worst_kind(*policy, remediation, false);
  if (!kind) return policy;
  auto own = std::make_shared<Policy>(*policy);
  own->announced = kind;
  const auto& steps = own->maintenance.at(*kind).steps;
  own->steps[kMaintenanceSeverity] = steps;
  for (PoolPolicy& pool : own->pools) pool.steps.erase(kMaintenanceSeverity);
  own->return_to_service.enabled |= find(steps, Step::kReturn) != nullptr;
  return own;
}

bool is_maintenance(const Policy& policy, const Remediation& remediation) {
  return policy.announced && remediation.acted_severity() == kMaintenanceSeverity;
}

}  // namespace gpuward::remediator
