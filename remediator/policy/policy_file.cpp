// The YAML of a policy:
//
//   mode: observe                      # observe | taint | cordon | full
//   severities:                        # taint, cordon, collect-evidence, drain, restart-job,
//                                      # gpu-reset, reboot, quarantine-job, nccl-test, terminate,
//                                      # verify, return-to-service;
//                                      # notify: {sinks: [oncall]} anywhere after the first; one
//                                      # that is not named: policy/default_plans.h
//     isolate:
//       - taint
//       - cordon
//       - drain
//       - wait: {approval: true}       # terminate always waits for one, unless it says false here
//       - terminate:
//           timeout: 45m               # for the machine to be gone
//           volumes: {deadline: 10m, on_deadline: hold}  # still attached then: hold | proceed
//       - verify: {soak: 10m, timeout: 45m}  # after terminate: of the node that comes in its place
//     reboot:
//       - taint
//       - cordon
//       - collect-evidence: {timeout: 5m}  # its failure stops nothing
//       - wait: {approval: true, delay: 10m, window: nights}   # before the next step
//       - drain
//       - restart-job:                 # a program, told the jobs that have lost pods
//           program: [/usr/local/bin/restart-job]
//           timeout: 60s               # the next step follows, whatever comes of it
//       - reboot: {timeout: 20m}       # for the node to come back
//       - quarantine-job:
//           timeout: 4h
//           clears_latched: false        # a pass also clears what only an operator clears
//       - nccl-test: {timeout: 1h, min_bus_bandwidth: 400}  # GB/s; and clears_latched
//       - verify: {soak: 10m, timeout: 45m}
//       - return-to-service
//     reset:
//       - taint
//       - cordon
//       - drain
//       - gpu-reset:
//           timeout: 10m
//           on_busy: hold                # a process holds a GPU: hold for a human | escalate
//           not_on: [aws://]             # providerIDs that begin so: escalated, not tried
//           command: [nvidia-smi, --gpu-reset]  # of any Job; default: the template's
//     monitor: []                      # recorded, never acted on; a worse one may be empty only
//                                      # where all milder ones are
//   way_back: {...}                    # of nodes that would be held: policy/way_back_file.cpp
//   foreign_alerts: [...]              # of other rules than gpuward's: policy/foreign_alerts.cpp
//   conditions: [...]                  # of nodes; with drain_buffer: policy/condition_rules.cpp
//   loki: {...}                        # lines of logs: policy/loki_rules.cpp
//   triage: {...}                      # by a language model: policy/triage_rules.cpp
//   maintenance_windows: [...]         # policy/maintenance_window.cpp
//   pools: [...]                       # of some labels' nodes: policy/pools_file.cpp
//   drain: {...}                       # defaults of all drains: drain/drain_settings_file.cpp
//   evictions: {...}                   # the rate of all drains: the same file
//   budgets: {...}                     # policy/budget_file.cpp
//   cooldown: 0s                       # between a reset or reboot of a machine and the next
//                                      # disruptive action on it for another Remediation: 1h, say
//   remediations:                      # closed ones are deleted
//     keep_for: 30d
//     keep_most: 2000
//   evidence:
//     max_age: 120s                    # of the report right before drain and reboot
//   machines:                          # programs of yours, told the machine as JSON on stdin
//     reboot: [/usr/local/bin/power-cycle, --soft]
//     terminate: [/usr/local/bin/end-machine]  # where no NodeClaim or Machine owns it
//     is_gone: [/usr/local/bin/machine-is-gone]
//     timeout: 60s
//     aws:                             # instead of programs, where spec.providerID is of EC2
//       reboot: false
//       terminate: false               # through the Auto Scaling group where there is one
//       cluster: ""                    # instances have the tag kubernetes.io/cluster/NAME
//   jobs:                              # of collect-evidence, gpu-reset, quarantine-job, nccl-test,
//                                      # nccl-pairs
//     image: gpuward-exporter:0.1.0    # required for the built-in templates
//     namespace: gpu-healthcheck
//     service_account: gpu-healthcheck-quarantine  # of quarantine-job and nccl-test
//     pair_port: 29400                 # of nccl-pairs, on the network of the nodes
//     templates:                       # JSON, instead of manifests/remediator-job-<step>.json
//       gpu-reset: /etc/gpuward/gpu-reset.json
//   excluded:
//     nodes: [gpu-017]
//     labels: [team=research, do-not-touch]
//     namespaces: ["billing-*"]        # a drain that would evict a pod there fails before the
//     first control_plane: true
//   return_to_service:
//     enabled: false
//     max_report_age: 60s
//   notifications: {...}               # who is told of what: policy/notifications_file.cpp
#include <algorithm>

#include "remediator/policy/budget_file.h"
#include "remediator/policy/jobs_file.h"
#include "remediator/policy/policy.h"
#include "remediator/policy/pools_file.h"
#include "remediator/policy/way_back_file.h"

namespace gpuward::remediator {
namespace {

constexpr Severity kSeverities[] = {Severity::kIsolate, Severity::kReboot, Severity::kReset,
                                    Severity::kMonitor};

void read_mode(const YamlMap& root, Policy& policy) {
  std::string text(to_string(policy.mode));
  root.read("mode", text);
  if (const auto mode = parse_mode(text)) {
    policy.mode = *mode;
  } else {
    root.reject("mode", "must be one of observe, taint, cordon, full");
  }
}

void read_steps(const YamlMap& severities, Severity severity, const DrainSettings& drain,
                Policy& policy) {
  const std::string key(to_string(severity));
  if (!severities.has(key)) return;
  std::vector<PlannedStep> plan = read_plan(severities, key, drain);
  if (severity == Severity::kMonitor && !plan.empty()) {
    severities.reject(key, "monitor is recorded only: the list must be empty");
    return;
  }
  policy.steps[severity] = std::move(plan);
}

// Nothing at a severity, and something at a milder one, would do less for worse evidence; and what
// escalates would end there.
void refuse_gaps(const YamlMap& severities, const Policy& policy, std::string_view pool) {
  const auto acts = [&](Severity severity) { return !plan_of(policy, pool, severity).empty(); };
  for (const auto& [severity, milder] : {std::pair(Severity::kIsolate, Severity::kReboot),
                                         std::pair(Severity::kIsolate, Severity::kReset),
                                         std::pair(Severity::kReboot, Severity::kReset)}) {
    if (acts(severity) || !acts(milder)) continue;
    severities.reject(to_string(severity), "has no steps, but the milder " +
                                               std::string(to_string(milder)) +
                                               " has: worse evidence must not do less");
    return;
  }
}

void refuse_all_gaps(const YamlMap& root, const Policy& policy) {
  refuse_gaps(root.map("severities"), policy, {});
  for (std::size_t i = 0; i < policy.pools.size(); ++i) {
    refuse_gaps(root.maps("pools")[i].map("severities"), policy, policy.pools[i].name);
  }
}

using NamedPlan = std::pair<std::string, std::vector<PlannedStep>>;

// The plan of each severity with its name in the file, those of the pools included.
std::vector<NamedPlan> all_plans(const Policy& policy) {
  std::vector<NamedPlan> plans;
  const auto add = [&](const std::string& section, const auto& lists, const std::string& whose) {
    for (const auto& [severity, plan] : lists) {
      plans.emplace_back(section + std::string(to_string(severity)) + whose, plan);
    }
  };
  add("severities.", policy.steps, "");
  add("way_back.", policy.way_back, "");
  for (const PoolPolicy& pool : policy.pools) {
    add("severities.", pool.steps, " of pool " + pool.name);
    add("way_back.", pool.way_back, " of pool " + pool.name);
  }
  return plans;
}

// Every window that a step waits for has to be one.
void require_windows(const YamlMap& root, const Policy& policy) {
  for (const auto& [name, plan] : all_plans(policy)) {
    for (const PlannedStep& step : plan) {
      const std::string& window = step.before.window;
      const bool is_known = std::ranges::find(policy.windows, window, &MaintenanceWindow::name) !=
                            policy.windows.end();
      if (window.empty() || is_known) continue;
      root.reject(step.pool.empty() ? "severities" : "pools",
                  "the step " + std::string(to_string(step.step)) + " in " + name +
                      " waits for a window that maintenance_windows does not name");
    }
  }
}

// Every sink that a step tells has to be one; the one of the environment is not known here.
void require_sinks(const YamlMap& root, const Policy& policy) {
  const auto is_known = [&](const std::string& name) {
    return is_environment_sink(name) ||
           std::ranges::find(policy.notifications.sinks, name, &SinkSettings::name) !=
               policy.notifications.sinks.end();
  };
  for (const auto& [name, plan] : all_plans(policy)) {
    for (const PlannedStep& step : plan) {
      if (std::ranges::all_of(step.sinks, is_known)) continue;
      root.reject(step.pool.empty() ? "severities" : "pools",
                  "the step notify in " + name + " names a sink that notifications does not");
    }
  }
}

void read_retention(const YamlMap& section, Retention& out) {
  section.read("keep_for", out.age, std::chrono::hours(1), std::chrono::hours(24 * 366));
  section.read("keep_most", out.most, 10, 100'000);
}

bool is_tag_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

void read_aws(const YamlMap& section, AwsMachines& out) {
  section.read("reboot", out.reboot);
  section.read("terminate", out.terminate);
  section.read("cluster", out.cluster);
  if (!is_tag_text(out.cluster)) {
    section.reject("cluster", "must be the name of a cluster: letters, digits, - and _");
  }
}

void read_machines(const YamlMap& section, Policy& policy) {
  section.read("reboot", policy.machines.reboot);
  section.read("terminate", policy.machines.terminate);
  section.read("is_gone", policy.machines.is_gone);
  if (policy.machines.terminate.empty() != policy.machines.is_gone.empty()) {
    section.reject(policy.machines.terminate.empty() ? "terminate" : "is_gone",
                   "terminate and is_gone go together: without proof that it is gone no machine is "
                   "taken for replaced");
  }
  section.read("timeout", policy.machines.timeout, std::chrono::seconds(1),
               std::chrono::minutes(10));
  read_aws(section.map("aws"), policy.machines.aws);
}

bool can_reboot(const MachineCommands& machines) {
  return machines.aws.reboot || (!machines.reboot.empty() && !machines.reboot.front().empty());
}

void require_reboot(const YamlMap& section, const Policy& policy) {
  if (can_reboot(policy.machines)) return;
  for (const auto& [name, plan] : all_plans(policy)) {
    if (std::ranges::find(plan, Step::kReboot, &PlannedStep::step) == plan.end()) continue;
    section.reject("reboot",
                   "is required where " + name + " has the step reboot and aws.reboot is off");
    return;
  }
}

Means means_of(const Policy& policy) {
  const bool has_template = policy.jobs.template_files.contains(Step::kGpuReset);
  return {.reboot = can_reboot(policy.machines),
          .gpu_reset = has_template || !policy.jobs.image.empty()};
}

// The built-in templates name no image.
void require_image(const YamlMap& section, const Policy& policy) {
  if (!policy.jobs.image.empty()) return;
  for (const auto& [name, plan] : all_plans(policy)) {
    for (const PlannedStep& step : plan) {
      if (!is_job(step.step) || policy.jobs.template_files.contains(step.step)) continue;
      section.reject("image", "is required where " + name + " has the step " +
                                  std::string(to_string(step.step)));
      return;
    }
  }
}

void read_excluded(const YamlMap& excluded, Exclusions& out) {
  std::vector<std::string> nodes;
  excluded.read("nodes", nodes);
  out.nodes.insert(nodes.begin(), nodes.end());
  excluded.read("labels", out.labels);
  for (const std::string& label : out.labels) {
    if (label.empty() || label.front() == '=') {
      excluded.reject("labels", "each entry must be `key` or `key=value`");
    }
  }
  excluded.read("namespaces", out.namespaces);
  if (std::ranges::any_of(out.namespaces, &std::string::empty)) {
    excluded.reject("namespaces", "each entry must be a namespace, perhaps with * and ?");
  }
  excluded.read("control_plane", out.control_plane);
}

void read_return(const YamlMap& section, ReturnToService& out) {
  using std::chrono::hours;
  using std::chrono::seconds;
  section.read("enabled", out.enabled);
  section.read("max_report_age", out.max_report_age, seconds(1), hours(1));
}

}  // namespace

Result<Policy> read_policy(const YamlFile& file) {
  Policy policy;
  const YamlMap root = file.root();
  read_mode(root, policy);
  const YamlMap severities = root.map("severities");
  read_excluded(root.map("excluded"), policy.excluded);
  DrainSettings drain;
  drain.excluded_namespaces = policy.excluded.namespaces;
  drain = read_drain_settings(root.map("drain"), std::move(drain));
  read_machines(root.map("machines"), policy);
  policy.jobs = read_jobs(root.map("jobs"));
  const Means means = means_of(policy);
  policy.steps = default_plans(means, drain);
  for (const Severity severity : kSeverities) read_steps(severities, severity, drain, policy);
  policy.way_back = read_way_back(root.map("way_back"));
  const auto highest = root.has("mode") ? std::optional(policy.mode) : std::nullopt;
  policy.pools = read_pools(
      root, {.severities = severities, .drain = drain, .means = means, .highest = highest});
  policy.foreign_alerts = read_foreign_alerts(root);
  policy.conditions = read_condition_rules(root);
  root.read("drain_buffer", policy.drain_buffer, std::chrono::seconds(0), std::chrono::hours(24));
  policy.loki = read_loki_rules(root.map("loki"));
  policy.triage = read_triage_rules(root.map("triage"));
  policy.windows = read_maintenance_windows(root);
  require_windows(root, policy);
  policy.evictions = read_eviction_rate(root.map("evictions"));
  policy.budgets = read_budgets(root.map("budgets"));
  root.map("evidence")
      .read("max_age", policy.max_evidence_age, std::chrono::seconds(10), std::chrono::minutes(10));
  root.read("cooldown", policy.cooldown, std::chrono::seconds(0), std::chrono::hours(24 * 7));
  read_retention(root.map("remediations"), policy.retention);
  require_reboot(root.map("machines"), policy);
  require_image(root.map("jobs"), policy);
  read_return(root.map("return_to_service"), policy.return_to_service);
  policy.notifications = read_notifications(root.map("notifications"));
  require_sinks(root, policy);
  if (auto status = file.finish(); !status) return std::unexpected(status.error());
  // A plan that could not be read is not one without steps: only now.
  refuse_all_gaps(root, policy);
  refuse_dead_ways_back(root, policy);
  if (auto status = file.finish(); !status) return std::unexpected(status.error());
  return policy;
}

}  // namespace gpuward::remediator
