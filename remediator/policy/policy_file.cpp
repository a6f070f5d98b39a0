// The YAML of a policy as a whole; docs/configuration.md has all keys. Each section has its own
// reader in another file.
#include <algorithm>

#include "remediator/policy/cluster_name.h"
#include "remediator/policy/policy_sections.h"
#include "remediator/policy/reset_rules.h"

namespace gpuward::remediator {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

void read_steps(const YamlMap& severities, const DrainSettings& drain, Policy& policy) {
  for (const auto& [key, severity] : kSeverityWords) {
    if (!severities.has(key)) continue;
    const bool is_recorded_only = severity == Severity::kMonitor;
    auto plan =
        read_plan(severities, key, drain,
                  is_recorded_only ? "must be empty: findings of severity monitor are only recorded"
                                   : "the steps for a finding of this severity");
    if (is_recorded_only && !plan.empty()) {
      severities.reject(key, "must be empty: findings of severity monitor are only recorded");
    } else {
      policy.steps[severity] = std::move(plan);
    }
  }
}

// Rejects a severity without steps above a milder one with steps: worse evidence would lead to
// fewer actions, and an escalation would end there.
void refuse_gaps(const YamlMap& severities, const Policy& policy, std::string_view pool) {
  const auto acts = [&](Severity severity) { return !plan_of(policy, pool, severity).empty(); };
  for (const auto& [severity, milder] : {std::pair(Severity::kIsolate, Severity::kReboot),
                                         std::pair(Severity::kIsolate, Severity::kReset),
                                         std::pair(Severity::kReboot, Severity::kReset)}) {
    if (acts(severity) || !acts(milder)) continue;
    severities.reject(to_string(severity),
                      "has no steps, but the milder severity " + std::string(to_string(milder)) +
                          " has steps: worse evidence must not lead to fewer actions");
    return;
  }
}

void refuse_all_gaps(const YamlMap& root, const Policy& policy) {
  refuse_gaps(root.map("severities"), policy, {});
  for (std::size_t i = 0; i < policy.pools.size(); ++i) {
    refuse_gaps(root.maps("pools")[i].map("severities"), policy, policy.pools[i].name);
  }
}

using NamedStep = std::pair<std::string, PlannedStep>;

// Returns each step with the name of its list in the file, those of the pools included.
std::vector<NamedStep> all_steps(const Policy& policy) {
  std::vector<NamedStep> steps;
  const auto add = [&](const std::string& section, const auto& lists, const std::string& whose) {
    for (const auto& [severity, plan] : lists)
      for (const PlannedStep& step : plan)
        steps.emplace_back(section + std::string(to_string(severity)) + whose, step);
  };
  add("severities.", policy.steps, "");
  add("recovery.", policy.recovery, "");
  for (const auto& [kind, rule] : policy.maintenance) {
    for (const PlannedStep& step : rule.steps)
      steps.emplace_back("maintenance." + std::string(to_string(kind)), step);
  }
  for (const PoolPolicy& pool : policy.pools) {
    add("severities.", pool.steps, " of pool " + pool.name);
    add("recovery.", pool.recovery, " of pool " + pool.name);
  }
  return steps;
}

// Each window that a step waits for must exist.
void require_windows(const YamlMap& root, const Policy& policy) {
  for (const auto& [name, step] : all_steps(policy)) {
    const std::string& window = step.before.window;
    const bool is_known =
        std::ranges::find(policy.windows, window, &MaintenanceWindow::name) != policy.windows.end();
    if (window.empty() || is_known) continue;
    root.reject(step.pool.empty() ? "severities" : "pools",
                "the step " + std::string(to_string(step.step)) + " in " + name +
                    " waits for a window that is not in maintenance_windows");
  }
}

// Each sink that a step names must exist; sinks of the environment are not known here.
void require_sinks(const YamlMap& root, const Policy& policy) {
  const auto is_known = [&](const std::string& name) {
    return is_environment_sink(name) ||
           std::ranges::find(policy.notifications.sinks, name, &SinkSettings::name) !=
               policy.notifications.sinks.end();
  };
  for (const auto& [name, step] : all_steps(policy)) {
    if (std::ranges::all_of(step.sinks, is_known)) continue;
    root.reject(step.pool.empty() ? "severities" : "pools",
                "the step notify in " + name + " names a sink that is not in notifications.sinks");
  }
}

void read_retention(const YamlMap& section, Retention& out) {
  section.read(
      "keep_for", out.age, hours(1), hours(24 * 366),
      "how long a Remediation is kept after it closed; one that was Replaced stays longer, "
      "while an older open one has drained its node");
  section.read(
      "keep_most", out.most, 10, 100'000,
      "maximum number of closed Remediations kept, not counting those that keep a machine out of "
      "service");
}

bool is_tag_text(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

void read_aws(const YamlMap& section, AwsMachines& out) {
  section.read("reboot", out.reboot, "EC2 restarts the instance");
  section.read("terminate", out.terminate,
               "EC2 terminates the instance, through its Auto Scaling group if it has one");
  section.read("cluster", out.cluster,
               "NAME in the tag `kubernetes.io/cluster/NAME` that an instance must have if neither "
               "its private DNS name nor its ID is the node's name; empty: no such instance is "
               "restarted or terminated");
  if (!is_tag_text(out.cluster)) {
    section.reject("cluster", "must be the name of a cluster: letters, digits, - and _");
  }
}

bool has_reboot_program(const MachineCommands& machines) {
  return !machines.reboot.empty() && !machines.reboot.front().empty();
}

void read_machines(const YamlMap& section, Policy& policy) {
  section.read("reboot", policy.machines.reboot,
               "your program with its arguments; it reads the machine as JSON on stdin");
  section.read(
      "terminate", policy.machines.terminate,
      "the same for termination, if no NodeClaim or Machine owns the node; needs `is_gone`");
  section.read("is_gone", policy.machines.is_gone,
               "your program that proves that the machine is gone; needs `terminate`");
  if (policy.machines.terminate.empty() != policy.machines.is_gone.empty()) {
    section.reject(policy.machines.terminate.empty() ? "terminate" : "is_gone",
                   "set terminate and is_gone together: gpuward treats a machine as replaced only "
                   "with proof that it is gone");
  }
  section.read("power_state", policy.machines.power_state,
               "a program that prints `on`, `off` or `unreachable` to stdout: one of the proofs "
               "that a silent machine is down");
  section.read("timeout", policy.machines.timeout, seconds(1), minutes(10),
               "time limit of these programs");
  read_aws(section.map("aws", "replaces these programs on nodes with an EC2 providerID"),
           policy.machines.aws);
  const YamlMap job = section.map("job", "a Job on the node in place of a program");
  job.read("reboot", policy.machines.restarts_by_job,
           "a privileged Job restarts the machine; not where EC2 does, and not while the node is "
           "not Ready; needs `jobs.image` or `jobs.templates.reboot`");
  if (policy.machines.restarts_by_job && has_reboot_program(policy.machines))
    job.reject("reboot", "machines.reboot names a program for the same machines: set one of both");
}

bool can_reboot(const MachineCommands& machines) {
  return machines.aws.reboot || machines.restarts_by_job || has_reboot_program(machines);
}

void require_reboot(const YamlMap& section, const Policy& policy) {
  // The kubelet of a silent node starts no Job.
  const bool can_without_kubelet =
      policy.machines.aws.reboot || has_reboot_program(policy.machines);
  if (policy.silent.reboots && !can_without_kubelet)
    return section.reject(
        "reboot", "is required because silent.reboot is on: set it, or machines.aws.reboot");
  if (can_reboot(policy.machines)) return;
  for (const auto& [name, step] : all_steps(policy)) {
    if (step.step != Step::kReboot) continue;
    return section.reject("reboot", "is required because " + name +
                                        " has the step reboot: set it, machines.aws.reboot or "
                                        "machines.job.reboot");
  }
}

// A gpu-reset template of one vendor is enough: nodes of the other are held for an operator.
bool has_template(const JobsPolicy& jobs, Step step) {
  return jobs.template_files.contains(template_name(step, Vendor::kNvidia)) ||
         jobs.template_files.contains(template_name(step, Vendor::kAmd));
}

// The built-in templates have no image.
void require_image(const YamlMap& section, const Policy& policy) {
  if (!policy.jobs.image.empty()) return;
  for (const auto& [name, step] : all_steps(policy)) {
    const bool is_made =
        is_job(step.step) || (step.step == Step::kReboot && policy.machines.restarts_by_job);
    if (!is_made || has_template(policy.jobs, step.step)) continue;
    return section.reject("image", "is required because " + name + " has the step " +
                                       std::string(to_string(step.step)));
  }
}

// Only an operator's own template mounts a folder; without the step there is no upload.
void require_means_of_upload(const YamlMap& section, const Policy& policy) {
  const std::string& upload = policy.jobs.evidence.upload;
  if (upload.empty()) return;
  const YamlMap evidence = section.map("evidence");
  if (upload.starts_with('/') && !has_template(policy.jobs, Step::kCollectEvidence)) {
    evidence.reject("upload",
                    "is a folder, which no built-in template mounts: jobs.templates."
                    "collect-evidence is required");
  }
  const auto steps = all_steps(policy);
  if (std::ranges::none_of(
          steps, [](const auto& named) { return named.second.step == Step::kCollectEvidence; }))
    evidence.reject("upload", "has no effect: no severity has the step collect-evidence");
}

void read_excluded(const YamlMap& excluded, Exclusions& out) {
  std::vector<std::string> nodes;
  excluded.read("nodes", nodes, "names of nodes");
  out.nodes.insert(nodes.begin(), nodes.end());
  read_node_labels(excluded, out.labels, "labels of nodes: `key` or `key=value`");
  excluded.read("namespaces", out.namespaces,
                "namespaces; `*` and `?` are wildcards; a drain that would evict a pod in one of "
                "them fails before it begins");
  if (std::ranges::any_of(out.namespaces, &std::string::empty))
    excluded.reject("namespaces", "each entry must be a namespace; * and ? are wildcards");
  excluded.read("control_plane", out.control_plane, "also exclude the nodes of the control plane");
}

void read_return(const YamlMap& section, ReturnToService& out) {
  section.read("enabled", out.enabled,
               "remove gpuward's taint and cordon from a node that is healthy again");
  section.read("max_report_age", out.max_report_age, seconds(1), hours(1),
               "maximum age of the health report that confirms it");
}

}  // namespace

Means means_of(const Policy& policy, Preset preset) {
  return {
      .reboot = can_reboot(policy.machines),
      .gpu_reset = can_reset(policy.jobs, Vendor::kNvidia) || can_reset(policy.jobs, Vendor::kAmd),
      .preset = preset};
}

void read_node_labels(const YamlMap& map, std::vector<std::string>& out, std::string_view about) {
  map.read("labels", out, about);
  for (const std::string& label : out)
    if (label.empty() || label.front() == '=')
      map.reject("labels", "each entry must be `key` or `key=value`");
}

Result<Policy> read_policy(const YamlFile& file) {
  Policy policy;
  const YamlMap root = file.root();
  root.read_word("mode", policy.mode, kModeWords,
                 "the most that gpuward may do; `--mode` overrides it");
  policy.cluster = read_cluster_name(root);
  Preset preset{};
  root.read_word("preset", preset, kPresetWords,
                 "the steps of severities that `severities` does not set: gpuward's own, or those "
                 "of the AWS GPU health check suite, with quarantine-job after each repair");
  const YamlMap severities = root.map(
      "severities", "the steps of each severity; `gpuwardctl policy explain` prints the defaults");
  read_excluded(root.map("excluded", "nodes and namespaces that gpuward does not change"),
                policy.excluded);
  DrainSettings drain;
  drain.excluded_namespaces = policy.excluded.namespaces;
  drain = read_drain_settings(root.map("drain", "defaults for all drains"), std::move(drain));
  read_machines(root.map("machines", "how machines are restarted and terminated"), policy);
  policy.jobs = read_jobs(root.map("jobs", "the Jobs on unhealthy nodes"));
  const Means means = means_of(policy, preset);
  policy.steps = default_plans(means, drain);
  read_steps(severities, drain, policy);
  root.read_renamed("way_back", "recovery", {.type = "mapping", .like = "recovery"});
  policy.recovery = read_recovery(root.map("recovery",
                                           "steps to run instead of a hold: diagnostics, then the "
                                           "return to service if they pass; default: none"));
  policy.budgets =
      read_budgets(root.map("budgets", "how many nodes may be out of service at once"));
  const auto highest = root.has("mode") ? std::optional(policy.mode) : std::nullopt;
  policy.pools = read_pools(root, {.severities = severities,
                                   .drain = drain,
                                   .means = means,
                                   .highest = highest,
                                   .steps = policy.steps,
                                   .jobs = policy.jobs,
                                   .budgets = policy.budgets});
  for (const PoolPolicy& pool : policy.pools)
    policy.budgets.own_pools.push_back({{pool.name, pool.labels}, pool.budgets});
  policy.foreign_alerts = read_foreign_alerts(root);
  policy.conditions = read_condition_rules(root);
  policy.silent = read_silent_rules(root.map(
      "silent", "GPU nodes whose kubelet has stopped reporting; off unless this section is set"));
  policy.silent.is_on = root.has("silent");
  root.read_renamed("drain_buffer", "min_drain_interval",
                    {.type = "duration", .range = "0s to 1d"});
  root.read("min_drain_interval", policy.min_drain_interval, seconds(0), hours(24),
            "minimum time between the last disruptive step on another node and a drain for a node "
            "condition");
  policy.loki = read_loki_rules(root.map("loki", "which lines of `--loki.url` are findings"));
  policy.loki.is_configured = root.has("loki");
  policy.triage = read_triage_rules(
      root.map("triage", "advice from a language model; off unless `openai` or `bedrock` is set"));
  policy.maintenance = read_maintenance(
      root.map("maintenance",
               "steps for a cloud provider's announcements about a machine, by kind"),
      drain);
  policy.windows = read_maintenance_windows(root);
  require_windows(root, policy);
  policy.evictions =
      read_eviction_rate(root.map("evictions", "the eviction rate, shared by all drains"));
  root.map("evidence", "how old a health report may be")
      .read("max_age", policy.max_evidence_age, seconds(10), minutes(10),
            "maximum age of the health report right before a disruptive step");
  root.read("startup_grace", policy.startup_grace, seconds(0), hours(24),
            "how long a Node counts as being set up after its registration; no disruptive step "
            "begins in that time");
  policy.repairer_signs = read_repairer_signs(root.map(
      "other_repairers",
      "signs on a Node that another program is repairing it; gpuward waits while there is one"));
  root.read("cooldown", policy.cooldown, seconds(0), hours(24 * 7),
            "minimum time between a reset or restart of a machine and the next disruptive step on "
            "it for another Remediation");
  read_retention(root.map("remediations", "how long closed Remediations are kept"),
                 policy.retention);
  require_reboot(root.map("machines"), policy);
  require_image(root.map("jobs"), policy);
  require_means_of_upload(root.map("jobs"), policy);
  read_return(
      root.map("return_to_service", "whether nodes return to service after their alerts resolve"),
      policy.return_to_service);
  policy.notifications = read_notifications(
      root.map("notifications", "who is notified, and about what"), policy.cluster);
  require_sinks(root, policy);
  if (auto status = file.finish(); !status) return std::unexpected(status.error());
  // A plan that could not be read is not a plan without steps, so this check comes last.
  refuse_all_gaps(root, policy);
  refuse_dead_recoveries(root, policy);
  policy.old_names = file.old_names();
  if (auto status = file.finish(); !status) return std::unexpected(status.error());
  return policy;
}

std::vector<YamlKey> policy_keys() {
  const YamlFile file = YamlFile::describing();
  static_cast<void>(read_policy(file));
  describe_steps(file.root().map("steps", "the items of a list of steps"));
  return file.keys();
}

}  // namespace gpuward::remediator
