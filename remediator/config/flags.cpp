#include "remediator/config/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <iostream>

#include "core/command_line/client_file_options.h"
#include "core/command_line/completion.h"
#include "remediator/config/flag_examples.h"

namespace gpuward::remediator {
namespace {

constexpr int kWrongUsage = 2;
constexpr int kMostMonitorSeconds = 86'400;  // A day.

// Values that are checked after CLI11 has read them.
struct Words {
  std::string level = "info";
  std::string format = "logfmt";
  std::string mode;
  bool check_config = false;
  int monitor_interval = 30;
};

void add_web_flags(CLI::App& app, Flags& flags) {
  app.add_option("--web.listen-address", flags.listen_addresses,
                 "Address of the webhook; may be repeated: `:10981`, `127.0.0.1:10981`")
      ->capture_default_str();
  app.add_option("--web.telemetry-address", flags.telemetry_addresses,
                 "Address of /metrics, /healthz and /readyz; may be repeated")
      ->capture_default_str();
  app.add_option(
      "--web.health-address", flags.health_addresses,
      "Address of a listener for probes only, with /healthz and /readyz; may be repeated: "
      "`:10984`; default: none");
  app.add_option("--web.config.file", flags.web.config_file,
                 "YAML file with TLS and credentials of the webhook");
  app.add_option("--web.telemetry-config.file", flags.web.telemetry_config_file,
                 "YAML file with TLS and credentials of metrics and pages, in the same form");
  app.add_option("--web.bearer-token-file", flags.web.bearer_token_files,
                 "File with the tokens that may call the webhook, one per line; may be repeated");
  app.add_option("--web.hosts", flags.web.page_hosts,
                 "Further host names under which browsers may open the pages, such as that of an "
                 "Ingress: a,b; `*`: any. Addresses, localhost and names of Services always work; "
                 "metrics, health, runbooks and the webhook accept any name")
      ->delimiter(',');
  app.add_flag("--web.insecure", flags.web.insecure, "Disable authentication of the webhook");
}

// For clusters without an Alertmanager.
void add_monitor_flags(CLI::App& app, Flags& flags, Words& words) {
  app.add_flag(
      "--prometheus.alerts", flags.prometheus_alerts,
      "Read firing alerts from Prometheus, for clusters without Alertmanager; ignores silences");
  app.add_option("--prometheus.alerts-interval", words.monitor_interval,
                 "Interval of --prometheus.alerts, in seconds: 1 to 86400")
      ->envname("MONITOR_INTERVAL")
      ->check(CLI::Range(1, kMostMonitorSeconds))
      ->capture_default_str();
}

void add_loki_flags(CLI::App& app, Flags& flags) {
  app.add_option("--loki.url", flags.loki_url,
                 "Loki to read the kernel lines of all nodes from; the rules are under the key "
                 "`loki` of the policy")
      ->envname("LOG_ENDPOINT");
  app.add_option("--loki.namespaces", flags.loki_namespaces,
                 "Namespaces whose pod logs are read too: a,b")
      ->envname("WATCHED_NAMESPACES")
      ->delimiter(',');
  app.add_option("--loki.tenant", flags.loki_tenant, "Tenant of Loki (X-Scope-OrgID)");
  add_client_file_options(app, "--loki", flags.loki_files);
}

void add_flags(CLI::App& app, Flags& flags, Words& words) {
  add_web_flags(app, flags);
  app.add_option("--config.file", flags.config_file, "YAML file with the policy");
  app.add_option("--mode", words.mode,
                 "observe, taint, cordon or full; overrides the policy file (default: observe)");
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "Kubeconfig file; default: the pod's service account, or outside a pod "
                 "$KUBECONFIG or ~/.kube/config");
  app.add_option("--context", flags.context, "Context of the kubeconfig");
  app.add_option(
      "--prometheus.url", flags.prometheus_url,
      "Prometheus to read health reports from: before every disruptive step, and before a node "
      "is returned to service");
  app.add_option("--alertmanager.url", flags.alertmanager_url,
                 "Alertmanager to read the firing alerts from: once a minute, after a truncated "
                 "notification, and before every disruptive step");
  add_monitor_flags(app, flags, words);
  add_client_file_options(app, "--prometheus", flags.prometheus_files);
  add_client_file_options(app, "--alertmanager", flags.alertmanager_files);
  add_loki_flags(app, flags);
  app.add_option("--namespace", flags.state_namespace,
                 "Namespace of the lease, the ledger of the budgets and the stop switch")
      ->envname("POD_NAMESPACE")
      ->capture_default_str();
  app.add_option("--pod-name", flags.pod_name,
                 "Name of the remediator's own pod; a drain evicts it last")
      ->envname("POD_NAME");
  app.add_option(
         "--notifications.webhook-url", flags.told.webhook_url,
         "Webhook that is notified about remediations, like the sink `webhook` of the policy")
      ->envname("WEBHOOK_URL");
  app.add_option("--notifications.lambda-function", flags.told.lambda_function,
                 "AWS Lambda function that is notified about remediations")
      ->envname("LAMBDA_FUNCTION");
  app.add_option("--notifications.sns-topic-arn", flags.told.sns_topic_arn,
                 "Amazon SNS topic that is notified about remediations")
      ->envname("SNS_TOPIC_ARN");
  app.add_option("--audit.path", flags.audit_path, "File of the audit trail; default: stdout");
  app.add_option("--log.level", words.level, "debug, info, warn or error")
      ->envname("LOG_LEVEL")
      ->capture_default_str();
  app.add_option("--log.format", words.format, "logfmt or json")->capture_default_str();
  app.add_flag("--check-config", words.check_config, "Check all configuration files and exit");
}

CLI::App* add_notify_test(CLI::App& app, Flags& flags) {
  CLI::App* notify = app.add_subcommand("notify", "Test the notifications about remediations");
  notify->require_subcommand(1);
  notify->fallthrough();
  CLI::App* test = notify->add_subcommand(
      "test", "Send a test notification to each sink of the policy and print the results");
  test->add_option("sink", flags.sink, "Name of one sink; default: all");
  test->fallthrough();
  return test;
}

// Returns the level in gpuward's words. LOG_LEVEL may have a value of the replaced monitor: INFO,
// WARNING, CRITICAL.
std::string level_word(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text == "warning") return "warn";
  return text == "critical" ? "error" : text;
}

// Returns why a value is invalid; empty if all are valid.
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
  return {};
}

}  // namespace

std::variant<Flags, int> parse_flags(int argc, const char* const* argv) {
  Flags flags;
  Words words;
  CLI::App app("Takes nodes with broken GPUs out of service when Alertmanager reports alerts.",
               "gpuward-remediator");
  add_flags(app, flags, words);
  app.set_version_flag("--version", "gpuward-remediator " GPUWARD_VERSION);
  const CLI::App* const notify_test = add_notify_test(app, flags);
  if (const auto exit_code = parse_words(app, kExamples, argc, argv)) return *exit_code;
  if (const std::string wrong = interpret(words, flags); !wrong.empty()) {
    std::cerr << "gpuward-remediator: " << wrong << "\n";
    return kWrongUsage;
  }
  if (words.check_config) flags.command = Command::kCheckConfig;
  if (notify_test->parsed()) flags.command = Command::kNotifyTest;
  return flags;
}

}  // namespace gpuward::remediator
