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
  std::vector<std::string> labels;  // "key" or "key=value"; a node of the pool has all of them
  std::optional<Mode> mode;         // applies if the policy's is higher
  std::map<Severity, std::vector<PlannedStep>> steps;          // of the severities that differ
  std::map<Severity, std::vector<PlannedStep>> recovery = {};  // also only those that differ
  std::optional<PoolLimits> budgets = {};                      // among its own nodes, if set
};

struct Exclusions {
  std::set<std::string> nodes;
  std::vector<std::string> labels;  // "key" or "key=value"
  // Patterns, with * and ?, of namespaces in which no drain evicts a pod. The settings of each
  // drain have them too.
  std::vector<std::string> namespaces;
  bool control_plane = true;  // nodes of the control plane
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
// (cloud/command_provider has their input). `terminate` and `is_gone` are for machines that no
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
  std::string cluster;  // as alerts and series name it (policy/cluster_name)
  std::map<Severity, std::vector<PlannedStep>> steps = default_plans();
  std::map<Severity, std::vector<PlannedStep>> recovery;
  std::vector<ForeignAlertRule> foreign_alerts;
  std::vector<ConditionRule> conditions;
  std::chrono::milliseconds min_drain_interval{std::chrono::minutes(10)};
  std::vector<std::string> old_names;  // renamed keys that the file uses, as YamlFile::old_names()
                                       // returns them
  LokiRules loki;
  SilentRules silent;
  TriageRules triage;
  MaintenanceRules maintenance = default_maintenance();
  std::optional<AnnouncementKind> announced;  // the kind whose steps policy_about() has inserted
  std::vector<MaintenanceWindow> windows;
  std::vector<PoolPolicy> pools;  // the first that matches a node applies
  std::string pool;               // set by policy_for(): the name of the node's pool
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

// Reads a policy; absent keys keep their defaults. kInvalid with one `file:line: field: what` per
// fault.
[[nodiscard]] Result<Policy> read_policy(const YamlFile& file);
// The keys that such a file may have; below `steps` those of each list of steps.
[[nodiscard]] std::vector<YamlKey> policy_keys();

// Says why gpuward leaves this node alone; nullopt if it does not.
[[nodiscard]] std::optional<std::string> exclusion_of(const Policy& policy, const kube::Node& node);

// Returns the policy for nodes with these labels: with the mode of their pool, if that is lower,
// and its plans. Returns the same policy if they belong to no pool.
[[nodiscard]] std::shared_ptr<const Policy> policy_for(std::shared_ptr<const Policy> policy,
                                                       const kube::Labels& labels);

// Returns all steps of `severity`: the pool's own, or else those for all nodes.
[[nodiscard]] const std::vector<PlannedStep>& plan_of(const Policy& policy, std::string_view pool,
                                                      Severity severity);

// Returns the recovery of a node that would be held at `severity`, by the same rule; empty if there
// is none.
[[nodiscard]] const std::vector<PlannedStep>& recovery_of(const Policy& policy,
                                                          std::string_view pool, Severity severity);

// Returns the steps of `severity` up to the first that the mode does not allow.
[[nodiscard]] std::vector<PlannedStep> steps_for(const Policy& policy, Severity severity);

// Whether any step that the mode allows waits for an approval.
[[nodiscard]] bool needs_approvals(const Policy& policy);

// Returns the next worse severity that has steps, `at_least` or above; nullopt if there is none.
[[nodiscard]] std::optional<Severity> worse_with_steps(const Policy& policy, Severity severity,
                                                       Severity at_least = Severity::kNone);

}  // namespace gpuward::remediator
