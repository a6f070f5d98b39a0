#include "remediator/config/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iostream>

#include "core/command_line/client_file_options.h"
#include "core/command_line/completion.h"
#include "core/command_line/output_option.h"
#include "core/runtime/yaml_scalars.h"
#include "remediator/config/flag_examples.h"

namespace gpuward::remediator {
namespace {

constexpr int kWrongUsage = 2;

// What must be checked after CLI11 has read it.
struct Words {
  std::string level = "info";
  std::string format = "logfmt";
  std::string mode;
  std::string severity;             // of policy explain
  std::vector<std::string> labels;  // "key=value" each
  std::string lasts = "30m";        // of exclusions add
  std::string since = "7d";         // of replay
  bool check_config = false;
  int monitor_interval = 30;
};

void add_web_flags(CLI::App& app, Flags& flags) {
  app.add_option("--web.listen-address", flags.listen_addresses,
                 "Address of the webhook, may be repeated: `:10981`, `127.0.0.1:10981`")
      ->capture_default_str();
  app.add_option("--web.telemetry-address", flags.telemetry_addresses,
                 "Address of /metrics, /healthz and /readyz, may be repeated")
      ->capture_default_str();
  app.add_option("--web.config.file", flags.web.config_file,
                 "YAML file with TLS and credentials of the webhook");
  app.add_option("--web.bearer-token-file", flags.web.bearer_token_files,
                 "File with the tokens that may call the webhook, one a line; may be repeated");
  app.add_flag("--web.insecure", flags.web.insecure, "Let everybody call the webhook");
}

// For clusters without an Alertmanager.
void add_monitor_flags(CLI::App& app, Flags& flags, Words& words) {
  app.add_flag("--prometheus.alerts", flags.prometheus_alerts,
               "Read the firing alerts from Prometheus itself, for clusters without an "
               "Alertmanager; there is no silence then");
  app.add_option("--prometheus.alerts-interval", words.monitor_interval, "How often, in seconds")
      ->envname("MONITOR_INTERVAL")
      ->check(CLI::Range(1, 600))
      ->capture_default_str();
}

void add_loki_flags(CLI::App& app, Flags& flags) {
  app.add_option("--loki.url", flags.loki_url,
                 "Loki to read the kernel's lines of all nodes from; what they mean stands in the "
                 "policy (loki)")
      ->envname("LOG_ENDPOINT");
  app.add_option("--loki.namespaces", flags.loki_namespaces,
                 "Namespaces whose pods' lines are read too: a,b")
      ->envname("WATCHED_NAMESPACES")
      ->delimiter(',');
  app.add_option("--loki.tenant", flags.loki_tenant, "Its tenant (X-Scope-OrgID)");
  add_client_file_options(app, "--loki", flags.loki_files);
}

void add_flags(CLI::App& app, Flags& flags, Words& words) {
  add_web_flags(app, flags);
  app.add_option("--config.file", flags.config_file, "YAML file with the policy");
  app.add_option("--mode", words.mode,
                 "observe, taint, cordon or full; wins over the policy file (default: observe)");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "kubeconfig file; default: the pod's own account, outside of a pod $KUBECONFIG or "
                 "~/.kube/config");
  app.add_option("--context", flags.context, "Context of the kubeconfig");
  app.add_option(
      "--prometheus.url", flags.prometheus_url,
      "Prometheus to read health reports from: before every disruptive step, and before a node "
      "is returned to service");
  app.add_option(
      "--alertmanager.url", flags.alertmanager_url,
      "Alertmanager to read the firing alerts from: once a minute, where a notification was "
      "cut short, and before every disruptive step");
  add_monitor_flags(app, flags, words);
  add_client_file_options(app, "--prometheus", flags.prometheus_files);
  add_client_file_options(app, "--alertmanager", flags.alertmanager_files);
  add_loki_flags(app, flags);
  app.add_option("--namespace", flags.state_namespace,
                 "Namespace of the lease, the ledger of the budgets and the stop switch")
      ->envname("POD_NAMESPACE")
      ->capture_default_str();
  app.add_option("--pod-name", flags.pod_name, "Our own pod, which a drain takes last")
      ->envname("POD_NAME");
  app.add_option(
         "--notifications.webhook-url", flags.told.webhook_url,
         "Webhook that is notified of remediations, as the sink `webhook` of the policy would")
      ->envname("WEBHOOK_URL");
  app.add_option("--notifications.lambda-function", flags.told.lambda_function,
                 "Function of AWS Lambda that is notified likewise")
      ->envname("LAMBDA_FUNCTION");
  app.add_option("--notifications.sns-topic-arn", flags.told.sns_topic_arn,
                 "Topic of Amazon SNS that is notified likewise")
      ->envname("SNS_TOPIC_ARN");
  app.add_option("--audit.path", flags.audit_path, "File of the audit trail; default: stdout");
  app.add_option("--log.level", words.level, "debug, info, warn or error")
      ->envname("LOG_LEVEL")
      ->capture_default_str();
  app.add_option("--log.format", words.format, "logfmt or json")->capture_default_str();
  app.add_flag("--check-config", words.check_config,
               "Read all configuration files, say what is wrong, and exit");
}

// A command about one node.
CLI::App* add_node_command(CLI::App& app, Flags& flags, const std::string& name,
                           const std::string& what) {
  CLI::App* command = app.add_subcommand(name, what);
  command->add_option("node", flags.node, "Name of the node")->required();
  command->fallthrough();
  return command;
}

using Commands = std::vector<std::pair<CLI::App*, Command>>;

// A command about a policy file, no cluster needed.
CLI::App* add_policy_command(CLI::App& policy, Flags& flags, const std::string& name,
                             const std::string& what) {
  CLI::App* command = policy.add_subcommand(name, what);
  command->add_option("file", flags.config_file, "YAML file with the policy")->required();
  command->fallthrough();
  return command;
}

void add_policy_commands(CLI::App& app, Flags& flags, Words& words, Commands& commands) {
  CLI::App* policy = app.add_subcommand("policy", "Look at a policy file");
  policy->require_subcommand(1);
  policy->fallthrough();
  CLI::App* explain = add_policy_command(*policy, flags, "explain",
                                         "Say what a policy would do to a node, step by step");
  CLI::Option* labels =
      explain->add_option("--labels", words.labels, "Of the node: key=value,key=value")
          ->delimiter(',');
  explain->add_option("--node", flags.node, "A node of the cluster, read from there")
      ->excludes(labels);
  explain->add_option("--severity", words.severity,
                      "isolate, reboot, reset or monitor; default: all");
  commands.emplace_back(explain, Command::kExplainPolicy);
  commands.emplace_back(
      add_policy_command(*policy, flags, "check", "Say what is wrong with a policy, and where"),
      Command::kCheckPolicy);
  commands.emplace_back(
      policy->add_subcommand("schema", "Print the JSON Schema of a policy, for your editor"),
      Command::kPolicySchema);
}

CLI::App* add_exclusion_command(CLI::App& exclusions, const std::string& name,
                                const std::string& what) {
  CLI::App* command = exclusions.add_subcommand(name, what);
  command->fallthrough();
  return command;
}

void add_exclusion_commands(CLI::App& app, Flags& flags, Words& words, Commands& commands) {
  CLI::App* all = app.add_subcommand("exclusions", "Keep gpuward off a node for a while");
  all->require_subcommand(1);
  all->fallthrough();
  CLI::App* list = add_exclusion_command(*all, "list", "Say what is excluded, and until when");
  add_output_option(*list, flags.output);
  CLI::App* add = add_exclusion_command(*all, "add", "Exclude a node or an instance");
  add->add_option("--for", words.lasts, "How long: 30m, 12h, 7d")->capture_default_str();
  add->add_option("--reason", flags.exclusion.reason, "Why, for those who meet it");
  CLI::App* remove = add_exclusion_command(*all, "remove", "End an exclusion before its time");
  for (CLI::App* command : {add, remove}) {
    command->add_option("name", flags.exclusion.subject, "Name of a node, or id of an instance")
        ->required();
  }
  CLI::App* import = add_exclusion_command(
      *all, "import", "Take over the exclusions of the monitor that gpuward replaces");
  import->add_option("file", flags.exclusion.file, "Its JSON file")->required();
  commands.insert(commands.end(), {{list, Command::kListExclusions},
                                   {add, Command::kAddExclusion},
                                   {remove, Command::kRemoveExclusion},
                                   {import, Command::kImportExclusions}});
}

CLI::App* add_reset_command(CLI::App& app, Flags& flags) {
  CLI::App* reset = app.add_subcommand("reset", "Take a taint of ours off all nodes");
  reset->add_option("--taint", flags.taint, "Its key")->capture_default_str();
  reset->add_flag("--dry-run", flags.dry_run, "Only say what would be done");
  reset->add_flag("--cancel", flags.cancels,
                  "Cancel the remediations that are open for such nodes, which are refused else");
  reset->fallthrough();
  return reset;
}

CLI::App* add_replay_command(CLI::App& app, Flags& flags, Words& words) {
  CLI::App* replay = app.add_subcommand(
      "replay", "Say what a policy would have done about the alerts of the past");
  replay->add_option("file", flags.config_file, "YAML file with the policy")->required();
  CLI::Option* history = replay->add_option(
      "--history", flags.replay.history,
      "What Prometheus' /api/v1/query_range has answered to ALERTS{alertstate=\"firing\"}, "
      "instead of --prometheus.url");
  replay->add_option("--since", words.since, "How far back Prometheus is asked: 12h, 30d")
      ->excludes(history)
      ->capture_default_str();
  replay->add_option("--nodes", flags.replay.nodes,
                     "Output of `kubectl get nodes -o json`, instead of --kubeconfig");
  replay->add_flag("--approve", flags.replay.approves_all,
                   "Approve each step that waits for approval");
  add_output_option(*replay, flags.output);
  replay->fallthrough();
  return replay;
}

CLI::App* add_notify_test(CLI::App& app, Flags& flags) {
  CLI::App* notify = app.add_subcommand("notify", "Look at who is notified of remediations");
  notify->require_subcommand(1);
  notify->fallthrough();
  CLI::App* test =
      notify->add_subcommand("test", "Send each sink of the policy a test, and say what came back");
  test->add_option("sink", flags.sink, "Name of one of them; default: all");
  test->fallthrough();
  return test;
}

CLI::App* add_runbook_command(CLI::App& app, Flags& flags) {
  CLI::App* runbook = app.add_subcommand("runbook", "Print the runbook of an alert");
  runbook->add_option("alert", flags.alert, "Name of the alert; default: list them");
  return runbook;
}

Commands add_commands(CLI::App& app, Flags& flags, Words& words) {
  CLI::App* list = app.add_subcommand("list", "List the remediations, open ones first");
  list->fallthrough();
  add_output_option(*list, flags.output);
  CLI::App* explain =
      add_node_command(app, flags, "explain", "Say what is known and decided about a node");
  add_output_option(*explain, flags.output);
  CLI::App* approve =
      add_node_command(app, flags, "approve", "Approve the step that waits for it, for an hour");
  approve->add_option("token", flags.token, "As `list` and `explain` show it")->required();
  CLI::App* breaker = app.add_subcommand("breaker", "Say whether the circuit breaker is open");
  breaker->fallthrough();
  add_output_option(*breaker, flags.output);
  CLI::App* close = breaker->add_subcommand("close", "Close it: what has come so far is looked at");
  close->fallthrough();
  Commands commands = {
      {list, Command::kList},
      {add_reset_command(app, flags), Command::kReset},
      {add_replay_command(app, flags, words), Command::kReplay},
      {add_notify_test(app, flags), Command::kNotifyTest},
      {add_runbook_command(app, flags), Command::kRunbook},
      {breaker, Command::kShowBreaker},
      {close, Command::kCloseBreaker},
      {approve, Command::kApprove},
      {explain, Command::kExplain},
      {add_node_command(app, flags, "pause", "Do nothing more to a node; what stands stays"),
       Command::kPause},
      {add_node_command(app, flags, "resume", "Go on after a pause"), Command::kResume},
      {add_node_command(app, flags, "cancel",
                        "Take what is ours off a node and close its remediation"),
       Command::kCancel},
      {add_node_command(app, flags, "machine-replaced",
                        "Forget what is known of the machine behind a node: it is another one"),
       Command::kMachineReplaced},
  };
  add_policy_commands(app, flags, words, commands);
  add_exclusion_commands(app, flags, words, commands);
  return commands;
}

// What policy explain is asked about. Why the words are wrong; empty where they are not.
std::string interpret_subject(const Words& words, Flags& flags) {
  if (!words.severity.empty()) {
    flags.severity = parse_severity(words.severity);
    if (!flags.severity || *flags.severity == Severity::kNone) {
      return "--severity: must be one of isolate, reboot, reset, monitor";
    }
  }
  for (const std::string& label : words.labels) {
    const auto equals = label.find('=');
    if (equals == 0 || equals == std::string::npos) return "--labels: each must be key=value";
    flags.labels[label.substr(0, equals)] = label.substr(equals + 1);
  }
  return {};
}

// LOG_LEVEL may be that of the monitor that is replaced: INFO, WARNING, CRITICAL.
std::string level_word(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text == "warning") return "warn";
  return text == "critical" ? "error" : text;
}

// Why the words are wrong; empty where they are not.
std::string interpret(const Words& words, Flags& flags) {
  const auto level = parse_log_level(level_word(words.level));
  if (!level) return "--log.level: " + level.error().message;
  const auto format = parse_log_format(words.format);
  if (!format) return "--log.format: " + format.error().message;
  if (!words.mode.empty()) {
    flags.mode = parse_mode(words.mode);
    if (!flags.mode) return "--mode: must be one of observe, taint, cordon, full";
  }
  for (const std::string* url : {&flags.prometheus_url, &flags.alertmanager_url, &flags.loki_url}) {
    if (!url->empty() && !url->starts_with("http://") && !url->starts_with("https://")) {
      return "--prometheus.url, --alertmanager.url and --loki.url must begin with http:// or "
             "https://";
    }
  }
  if (flags.prometheus_alerts && flags.prometheus_url.empty())
    return "--prometheus.alerts needs --prometheus.url";
  flags.monitor_interval = std::chrono::seconds(words.monitor_interval);
  const auto lasts = parse_duration(words.lasts);
  if (!lasts || lasts->count() <= 0) return "--for: must be a time such as 30m, 12h or 7d";
  flags.exclusion.lasts = *lasts;
  const auto since = parse_duration(words.since);
  if (!since || since->count() <= 0) return "--since: must be a time such as 12h or 30d";
  flags.replay.since = *since;
  const std::string& url = flags.told.webhook_url;
  if (!url.empty() && !url.starts_with("http://") && !url.starts_with("https://")) {
    return "WEBHOOK_URL must begin with http:// or https://";
  }
  if (!flags.told.sns_topic_arn.empty() && region_of_topic(flags.told.sns_topic_arn).empty()) {
    return "SNS_TOPIC_ARN must be the ARN of a topic: arn:aws:sns:REGION:ACCOUNT:NAME";
  }
  flags.log_level = *level;
  flags.log_format = *format;
  flags.in_cluster = flags.kubeconfig.empty() && flags.context.empty();
  return interpret_subject(words, flags);
}

}  // namespace

std::variant<Flags, int> parse_flags(int argc, const char* const* argv) {
  Flags flags;
  Words words;
  CLI::App app("Takes nodes with broken GPUs out of service, as Alertmanager's alerts ask for.",
               "gpuward-remediator");
  add_flags(app, flags, words);
  app.set_version_flag("--version", "gpuward-remediator " GPUWARD_VERSION);
  const Commands commands = add_commands(app, flags, words);
  if (const auto exit_code = parse_words(app, kExamples, argc, argv)) return *exit_code;
  if (const std::string wrong = interpret(words, flags); !wrong.empty()) {
    std::cerr << "gpuward-remediator: " << wrong << "\n";
    return kWrongUsage;
  }
  if (words.check_config) flags.command = Command::kCheckConfig;
  for (const auto& [command, meaning] : commands) {
    if (command->parsed()) flags.command = meaning;
  }
  return flags;
}

}  // namespace gpuward::remediator
