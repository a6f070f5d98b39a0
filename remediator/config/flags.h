// The command line of gpuward-remediator, which main() reads once. Operators use gpuwardctl
// (cli/ctl/) for all other commands.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/http/client/authorized_client.h"
#include "core/runtime/log.h"
#include "remediator/config/webhook_security.h"
#include "remediator/model/step.h"
#include "remediator/policy/notifications.h"

namespace gpuward::remediator {

enum class Command : std::uint8_t { kServe, kCheckConfig, kNotifyTest };

struct Flags {
  Command command = Command::kServe;
  std::vector<std::string> listen_addresses{":10981"};     // Addresses of the webhook.
  std::vector<std::string> telemetry_addresses{":10982"};  // Addresses of metrics and health.
  // Addresses of a listener for probes only; empty: no such listener.
  std::vector<std::string> health_addresses;
  WebFlags web;
  std::filesystem::path config_file;  // File of the policy.
  std::optional<Mode> mode;           // Overrides the mode in the policy file.
  std::string kubeconfig, context;
  // True if neither --kubeconfig nor --context was given: a pod uses its service account.
  bool in_cluster = true;
  std::string prometheus_url, alertmanager_url;
  std::string loki_url, loki_tenant;
  // Namespaces with pods whose log lines are read from Loki.
  std::vector<std::string> loki_namespaces;
  // Credentials for the three servers.
  http::ClientFiles prometheus_files, alertmanager_files, loki_files;
  bool prometheus_alerts = false;  // True if gpuward also reads the alerts of Prometheus itself.
  std::chrono::seconds monitor_interval{30};
  // The namespace of lease, ledger and stop switch, and the name of this pod; pod_name is empty
  // outside a pod.
  std::string state_namespace = "gpuward";
  std::string pod_name;
  std::filesystem::path audit_path;  // File of the audit trail; empty: stdout.
  // Sinks of notifications from the environment, in addition to the sinks of the policy.
  EnvironmentSinks told;
  std::string sink;  // Sink for `notify test`; empty: all sinks.
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
};

// Returns the flags, or the exit code if the process has nothing more to do: 0 after --help,
// --version and completion, 2 after an error, which is printed to stderr.
[[nodiscard]] std::variant<Flags, int> parse_flags(int argc, const char* const* argv);

}  // namespace gpuward::remediator
