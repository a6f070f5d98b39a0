// What the operator wants done about which severity, and to whom nothing may be done. Read from the
// YAML file of --config.file; an immutable value afterwards. Used by every decision.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/model/step.h"
#include "remediator/policy/budget_limits.h"
#include "remediator/policy/condition_rules.h"
#include "remediator/policy/foreign_alerts.h"
#include "remediator/policy/job_settings.h"
#include "remediator/policy/loki_rules.h"
#include "remediator/policy/maintenance_rules.h"
#include "remediator/policy/maintenance_window.h"
#include "remediator/policy/notifications.h"
#include "remediator/policy/repairer_signs.h"
#include "remediator/policy/retention.h"
#include "remediator/policy/silent_rules.h"
#include "remediator/policy/step_plan.h"
#include "remediator/policy/triage_rules.h"

namespace gpuward::remediator {

struct PoolPolicy {
  std::string name;
  std::vector<std::string> labels;  // "key" or "key=value"; a node of the pool has all of them
  std::optional<Mode> mode;         // if the policy's is higher
  std::map<Severity, std::vector<PlannedStep>> steps;          // of the severities that differ
  std::map<Severity, std::vector<PlannedStep>> recovery = {};  // likewise
  std::optional<PoolLimits> budgets = {};  // among its own nodes, where it has any
};

struct Exclusions {
  std::set<std::string> nodes;
  std::vector<std::string> labels;  // "key" or "key=value"
  // With * and ?: no drain evicts a pod in them. They are in the settings of each drain.
  std::vector<std::string> namespaces;
  bool control_plane = true;  // nodes of the control plane
};

struct ReturnToService {
  bool enabled = false;
  std::chrono::milliseconds max_report_age{60'000};
};

// Which machines on EC2 are restarted and ended through AWS's own API.
struct AwsMachines {
  bool reboot = false;
  bool terminate = false;
  std::string cluster;
};

// How machines are restarted and ended. By `restarts_by_job` a privileged Job on the node restarts
// the machine, if neither EC2 nor a program does. Else programs of the operator do
// (cloud/command_provider has their input). `terminate` and `is_gone` are for
// machines that no NodeClaim or Machine in the cluster owns.
struct MachineCommands {
  std::vector<std::string> reboot, terminate, is_gone, power_state;
  std::chrono::milliseconds timeout{60'000};
  AwsMachines aws;
  bool restarts_by_job = false;
};

// docs/configuration.md says what each is for.
struct Policy {
  Mode mode = Mode::kObserve;
  std::string cluster;  // as alerts and series name it (policy/cluster_name)
  std::map<Severity, std::vector<PlannedStep>> steps = default_plans();
  std::map<Severity, std::vector<PlannedStep>> recovery;
  std::vector<ForeignAlertRule> foreign_alerts;
  std::vector<ConditionRule> conditions;
  std::chrono::milliseconds min_drain_interval{std::chrono::minutes(10)};
  std::vector<std::string> old_names;  // that the file has, as YamlFile::old_names() says them
  LokiRules loki;
  SilentRules silent;
  TriageRules triage;
  MaintenanceRules maintenance = default_maintenance();
  std::optional<AnnouncementKind> announced;  // whose steps policy_about() has given
  std::vector<MaintenanceWindow> windows;
  std::vector<PoolPolicy> pools;  // the first that a node belongs to
  std::string pool;               // of what policy_for() gives: that pool's name
  std::chrono::milliseconds max_evidence_age{120'000};
  std::chrono::milliseconds startup_grace{std::chrono::minutes(10)};
  std::vector<RepairerSign> repairer_signs = known_repairer_signs();
  std::chrono::milliseconds cooldown{0};
  MachineCommands machines;
  JobsPolicy jobs;
  EvictionRate evictions;
  BudgetLimits budgets;
  Retention retention;
  Exclusions excluded;
  NotificationPolicy notifications;
  ReturnToService return_to_service;
};

// Label by which anybody takes a node out of gpuward's hands: `gpuward.dev/managed=false`.
inline constexpr std::string_view kManagedLabel = "gpuward.dev/managed";

// Reads a policy; absent keys keep their defaults. kInvalid with one `file:line: field: what` a
// fault.
[[nodiscard]] Result<Policy> read_policy(const YamlFile& file);
// What such a file may have; below `steps` what each list of steps may.
[[nodiscard]] std::vector<YamlKey> policy_keys();

// Why gpuward leaves this node alone; nullopt where it does not.
[[nodiscard]] std::optional<std::string> exclusion_of(const Policy& policy, const kube::Node& node);

// The policy as it is for nodes of these labels: with the mode of their pool, where that is lower,
// and its plans. The same one where they belong to none.
[[nodiscard]] std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                                       const kube::Labels& labels);

// All steps of `severity`: as `pool` has them, or else as all nodes do.
[[nodiscard]] const std::vector<PlannedStep>& plan_of(const Policy& policy, std::string_view pool,
                                                      Severity severity);

// The recovery of a node that would be held at `severity`, likewise; empty if there is none.
[[nodiscard]] const std::vector<PlannedStep>& recovery_of(const Policy& policy,
                                                          std::string_view pool, Severity severity);

// The steps of `severity` up to the first that the mode does not allow. `rule` of a Remediation's
// status names the line.
[[nodiscard]] std::vector<PlannedStep> steps_for(const Policy& policy, Severity severity);

// Whether any step that the mode allows waits for an approval.
[[nodiscard]] bool needs_approvals(const Policy& policy);

// The next worse severity that steps are taken at, `at_least` or above; nullopt where there is
// none.
[[nodiscard]] std::optional<Severity> worse_with_steps(const Policy& policy, Severity severity,
                                                       Severity at_least = Severity::kNone);

}  // namespace gpuward::remediator
