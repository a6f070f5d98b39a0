// The command line of gpuward-remediator, read once by main(); what people type is gpuwardctl's
// (ctl/).
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
  std::vector<std::string> listen_addresses{":10981"};     // the webhook
  std::vector<std::string> telemetry_addresses{":10982"};  // metrics and health
  std::vector<std::string> health_addresses;  // of a listener for probes alone; empty: none
  WebFlags web;
  std::filesystem::path config_file;  // the policy
  std::optional<Mode> mode;           // wins over the policy file's
  std::string kubeconfig, context;
  bool in_cluster = true;  // neither --kubeconfig nor --context was given: in a pod its account
  std::string prometheus_url, alertmanager_url;
  std::string loki_url, loki_tenant;
  std::vector<std::string> loki_namespaces;                            // whose pods' lines are read
  http::ClientFiles prometheus_files, alertmanager_files, loki_files;  // who we are to them
  bool prometheus_alerts = false;  // the alerts of Prometheus itself are read too
  std::chrono::seconds monitor_interval{30};
  // Where lease, ledger and stop switch are; and who we are there, empty outside of a pod.
  std::string state_namespace = "gpuward";
  std::string pod_name;
  std::filesystem::path audit_path;  // empty: stdout
  EnvironmentSinks told;             // sinks of notifications beside those of the policy
  std::string sink;                  // of notify test; empty: all
  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kLogfmt;
};

// The flags, or the exit code where the command line asks for nothing more (--help, --version,
// completion: 0)
// or is wrong (2, said on stderr).
[[nodiscard]] std::variant<Flags, int> parse_flags(int argc, const char* const* argv);

}  // namespace gpuward::remediator
