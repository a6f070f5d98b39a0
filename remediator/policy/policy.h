// The operator's rules: the steps for each severity, and the nodes that gpuward must leave alone.
// Read from the YAML file of --config.file; an immutable value afterwards. Used by every decision.
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
  // "key" or "key=value"; a node of the pool has all of these labels.
  std::vector<std::string> labels;
  std::optional<Mode> mode;  // Applies if the policy's mode is higher.
  // Only the severities with other steps than the policy.
  std::map<Severity, std::vector<PlannedStep>> steps;
  // Only the severities with another recovery than the policy.
  std::map<Severity, std::vector<PlannedStep>> recovery = {};
  std::optional<PoolLimits> budgets = {};  // Limits among the pool's own nodes.
};

struct Exclusions {
  std::set<std::string> nodes;
  std::vector<std::string> labels;  // "key" or "key=value".
  // Patterns, with * and ?, of namespaces in which no drain evicts a pod. The settings of each
  // drain contain the same patterns.
  std::vector<std::string> namespaces;
  bool control_plane = true;  // Whether nodes of the control plane are excluded.
};

struct ReturnToService {
  bool enabled = false;
  std::chrono::milliseconds max_report_age{60'000};
};

// Which machines on EC2 gpuward restarts and terminates through AWS's own API.
struct AwsMachines {
  bool reboot = false;
  bool terminate = false;
  std::string cluster;
};

// How gpuward restarts and terminates machines. With `restarts_by_job` a privileged Job on the node
// restarts the machine, if neither EC2 nor a program does. Otherwise programs of the operator do
// (act/cloud/command_provider has their input). `terminate` and `is_gone` are for machines that no
// NodeClaim or Machine in the cluster owns.
struct MachineCommands {
  std::vector<std::string> reboot, terminate, is_gone, power_state;
  std::chrono::milliseconds timeout{60'000};
  AwsMachines aws;
  bool restarts_by_job = false;
};

// docs/configuration.md describes each key.
struct Policy {
  Mode mode = Mode::kObserve;
  std::string cluster;  // Name of the cluster in alerts and series (policy/cluster_name).
  std::map<Severity, std::vector<PlannedStep>> steps = default_plans();
  std::map<Severity, std::vector<PlannedStep>> recovery;
  std::vector<ForeignAlertRule> foreign_alerts;
  std::vector<ConditionRule> conditions;
  std::chrono::milliseconds min_drain_interval{std::chrono::minutes(10)};
  // Renamed keys that the file uses, from YamlFile::old_names().
  std::vector<std::string> old_names;
  LokiRules loki;
  SilentRules silent;
  TriageRules triage;
  MaintenanceRules maintenance = default_maintenance();
  // The kind of announcement with steps that policy_about() has inserted.
  std::optional<AnnouncementKind> announced;
  std::vector<MaintenanceWindow> windows;
  std::vector<PoolPolicy> pools;  // The first pool that matches a node applies.
  std::string pool;               // Name of the node's pool; set by policy_for().
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

// Label by which a user excludes a node from gpuward: `gpuward.dev/managed=false`.
inline constexpr std::string_view kManagedLabel = "gpuward.dev/managed";

// Reads a policy. Missing keys keep their defaults. Returns kInvalid with one line `file:line:
// field: what` per fault.
[[nodiscard]] Result<Policy> read_policy(const YamlFile& file);
// Returns the keys that a policy file may have; for `steps`, the keys of each list of steps.
[[nodiscard]] std::vector<YamlKey> policy_keys();

// Returns why gpuward must not act on this node; nullopt if the node is not excluded.
[[nodiscard]] std::optional<std::string> exclusion_of(const Policy& policy, const kube::Node& node);

// Returns the policy for nodes with these labels, with the plans of their pool, and with its mode
// if that is lower. Returns the same policy if the nodes belong to no pool.
[[nodiscard]] std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                                       const kube::Labels& labels);

// Returns all steps of `severity`: the pool's own, or else those for all nodes.
[[nodiscard]] const std::vector<PlannedStep>& plan_of(const Policy& policy, std::string_view pool,
                                                      Severity severity);

// Returns the recovery of a node that would be held at `severity`: the pool's own recovery, else
// the common one; empty if there is none.
[[nodiscard]] const std::vector<PlannedStep>& recovery_of(const Policy& policy,
                                                          std::string_view pool, Severity severity);

// Returns the steps of `severity` before the first step that the mode does not allow.
[[nodiscard]] std::vector<PlannedStep> steps_for(const Policy& policy, Severity severity);

// Returns whether any step that the mode allows waits for an approval.
[[nodiscard]] bool needs_approvals(const Policy& policy);

// Returns the next worse severity that has steps, `at_least` or above; nullopt if there is none.
[[nodiscard]] std::optional<Severity> worse_with_steps(const Policy& policy, Severity severity,
                                                       Severity at_least = Severity::kNone);

}  // namespace gpuward::remediator
