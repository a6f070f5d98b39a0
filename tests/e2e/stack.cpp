#include "tests/e2e/stack.h"

#include <algorithm>
#include <csignal>
#include <system_error>

#include "core/runtime/files.h"
#include "tests/e2e/part_config.h"
#include "tests/e2e/scenario.h"
#include "tests/e2e/watch.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/ports.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

// free_port() reserves a port among tests only: another program may take it first.
constexpr int kTries = 3;

std::filesystem::path program(const char* name) {
  return std::filesystem::path(GPUWARD_BIN_DIR) / name;
}

std::string exporter_part(const std::string& node) { return "exporter of " + node; }
std::string alertmanager_part(int which) { return "Alertmanager " + std::to_string(which + 1); }

std::string end_of(const std::string& text) {
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 2000));
}

std::string local_address(int port) { return "127.0.0.1:" + std::to_string(port); }

}  // namespace

std::string why_no_stack(const std::string& neighbours) {
  for (const char* name : {"gpuward-exporter", "gpuward-remediator"}) {
    if (!std::filesystem::exists(program(name))) {
      return "no " + program(name).string() + ": build it first";
    }
  }
  for (const char* name : {"prometheus", "prometheus-alertmanager"}) {
    if (auto why = support::why_no_program_of(neighbours, name); !why.empty()) return why;
  }
  return {};
}

Result<std::unique_ptr<Stack>> Stack::start(const StackOptions& options) {
  Status status;
  for (int i = 0; i < kTries; ++i) {
    std::unique_ptr<Stack> stack(new Stack(options));
    status = stack->start_all();
    if (status) return stack;
    if (status.error().kind == ErrorKind::kCancelled) break;
  }
  return std::unexpected(status.error());
}

Stack::Stack(const StackOptions& options)
    : options_(options), token_("token-of-the-webhook-on-loopback") {
  for (const StackNode& node : options_.nodes) ports_[exporter_part(node.name)];
  for (int i = 0; i < options_.alertmanagers; ++i) ports_[alertmanager_part(i)];
  ports_["Prometheus"];
  ports_["remediator"];
  ports_["remediator telemetry"];
  for (auto& [part, port] : ports_) port = support::free_port();
}

Stack::~Stack() { stop(); }

std::string Stack::address(const std::string& part) const { return local_address(ports_.at(part)); }

std::string Stack::exporter_url(const std::string& node) const {
  return "http://" + address(exporter_part(node));
}
std::string Stack::prometheus_url() const { return "http://" + address("Prometheus"); }
std::string Stack::alertmanager_url(int which) const {
  return "http://" + address(alertmanager_part(which));
}
std::string Stack::webhook_url() const {
  return "http://" + address("remediator") + "/api/v1/alerts";
}
std::string Stack::telemetry_url() const { return "http://" + address("remediator telemetry"); }

Status Stack::start_all() {
  std::error_code ignored;
  std::filesystem::create_directories(options_.folder, ignored);
  if (auto status = write_file_atomically(options_.folder / "webhook-token", token_, 0600);
      !status) {
    return status;
  }
  for (std::size_t i = 0; i < options_.nodes.size(); ++i) {
    const StackNode& node = options_.nodes[i];
    if (auto status = write_file_atomically(scenario_file(node.name), eight_gpus_yaml("", i));
        !status) {
      return status;
    }
    if (auto status = start_exporter(node); !status) return status;
  }
  if (auto status = start_remediator(); !status) return status;
  for (int i = 0; i < options_.alertmanagers; ++i) {
    if (auto status = start_alertmanager(i); !status) return status;
  }
  if (auto status = start_prometheus(); !status) return status;
  return wait_until_watching();
}

Status Stack::start_exporter(const StackNode& node) {
  const auto state = options_.folder / ("state-" + node.name);
  const bool is_first_start = !std::filesystem::exists(state);
  if (node.log->is_device() && is_first_start) {
    if (auto status = remember_end_of(node.log->path(), state); !status) return status;
  }
  const std::string part = exporter_part(node.name);
  std::vector<std::string> argv{
      program("gpuward-exporter"), "--web.listen-address=" + address(part),
      "--kernel-log.path=" + node.log->path().string(), "--state.path=" + state.string()};
  auto environment = node.environment;
  if (node.flags.empty()) {
    argv.push_back("--gpu.simulate=" + scenario_file(node.name).string());
    // A simulated machine has no PCI bus on which check 2 could look for EFA devices.
    environment.insert({"CHECKS_LIGHTWEIGHT", "0 3"});
  }
  argv.insert(argv.end(), node.flags.begin(), node.flags.end());
  if (!node.kubeconfig.empty()) {
    argv.push_back("--kubeconfig=" + node.kubeconfig.string());
    environment.insert({{"NODE_NAME", node.name}, {"ENABLE_TAINT", "false"}});
  }
  return start_part(part, std::move(argv), exporter_url(node.name) + "/readyz",
                    std::move(environment));
}

Status Stack::start_remediator() {
  const auto policy = options_.folder / "policy.yaml";
  if (!options_.policy.empty()) {
    if (auto status = write_file_atomically(policy, options_.policy); !status) return status;
  }
  return start_part(
      "remediator",
      {program("gpuward-remediator"),
       options_.policy.empty() ? "--mode=cordon" : "--config.file=" + policy.string(),
       "--web.listen-address=" + address("remediator"),
       "--web.telemetry-address=" + address("remediator telemetry"),
       "--web.bearer-token-file=" + (options_.folder / "webhook-token").string(),
       "--kubeconfig=" + options_.cluster->remediator_kubeconfig().string(),
       "--prometheus.url=" + prometheus_url(), "--alertmanager.url=" + alertmanager_url(),
       "--audit.path=" + audit_file().string()},
      telemetry_url() + "/readyz", options_.environment);
}

Status Stack::start_alertmanager(int which) {
  const auto config = alertmanager_config(webhook_url(), options_.folder / "webhook-token");
  if (!config) return std::unexpected(config.error());
  const auto file = options_.folder / "alertmanager.yaml";
  if (auto status = write_file_atomically(file, *config); !status) return status;
  const std::string part = alertmanager_part(which);
  const auto data = options_.folder / ("alertmanager-" + std::to_string(which));
  return start_part(part,
                    {support::program_of(options_.neighbours, "prometheus-alertmanager"),
                     "--config.file=" + file.string(), "--storage.path=" + data.string(),
                     "--web.listen-address=" + address(part), "--cluster.listen-address="},
                    alertmanager_url(which) + "/-/ready");
}

Status Stack::start_prometheus() {
  PrometheusTargets targets;
  for (const StackNode& node : options_.nodes) {
    targets.exporters.emplace_back(node.name, address(exporter_part(node.name)));
  }
  for (int i = 0; i < options_.alertmanagers; ++i) {
    targets.alertmanagers.push_back(address(alertmanager_part(i)));
  }
  targets.remediator = address("remediator telemetry");
  const auto config = prometheus_config(targets);
  if (!config) return std::unexpected(config.error());
  const auto file = options_.folder / "prometheus.yaml";
  if (auto status = write_file_atomically(file, *config); !status) return status;
  return start_part(
      "Prometheus",
      {support::program_of(options_.neighbours, "prometheus"), "--config.file=" + file.string(),
       "--storage.tsdb.path=" + (options_.folder / "prometheus").string(),
       "--web.listen-address=" + address("Prometheus")},
      prometheus_url() + "/-/ready");
}

Status Stack::start_part(const std::string& name, std::vector<std::string> argv,
                         const std::string& ready_url,
                         std::map<std::string, std::string> environment) {
  auto process = support::Process::spawn({.argv = std::move(argv), .env = std::move(environment)});
  if (!process) return with_context("starting " + name, process.error());
  parts_[name] = *std::move(process);
  support::Process& part = *parts_[name];
  const bool settled = support::poll_until([&] {
    return options_.stop.stop_requested() || !part.running() ||
           support::http_get(ready_url).status == 200;
  });
  if (options_.stop.stop_requested()) return fail(ErrorKind::kCancelled, "told to stop");
  if (settled && part.running()) return {};
  return fail(ErrorKind::kUnavailable, name + " did not become ready (" + ready_url +
                                           "); the end of its log:\n" +
                                           end_of(part.error_output()));
}

Status Stack::wait_until_watching() const {
  const Watch watch(*this, *options_.cluster);
  const auto alertmanagers = static_cast<std::size_t>(options_.alertmanagers);
  const bool watching = support::poll_until([&] {
    return options_.stop.stop_requested() || (watch.scraped_exporters() == options_.nodes.size() &&
                                              watch.known_alertmanagers() == alertmanagers);
  });
  if (options_.stop.stop_requested()) return fail(ErrorKind::kCancelled, "told to stop");
  if (watching) return {};
  return fail(ErrorKind::kTimeout,
              "Prometheus did not find its targets and Alertmanagers; logs:\n" + logs());
}

Status Stack::stop_part(const std::string& name) {
  support::Process& part = *parts_.at(name);
  const int code = part.stop();
  if (code == 0) return {};
  return fail(ErrorKind::kInternal, name + " ended with " + std::to_string(code) +
                                        "; the end of its log:\n" + end_of(part.error_output()));
}

Status Stack::stop_exporter(const std::string& node) { return stop_part(exporter_part(node)); }

Status Stack::restart_exporter(const std::string& node) {
  if (auto status = stop_exporter(node); !status) return status;
  const auto at = std::ranges::find(options_.nodes, node, &StackNode::name);
  return start_exporter(*at);
}

Status Stack::restart_remediator() {
  if (auto status = stop_part("remediator"); !status) return status;
  return start_remediator();
}

Status Stack::crash_remediator() {
  parts_.at("remediator")->signal(SIGKILL);
  (void)parts_.at("remediator")->wait_exit();
  return start_remediator();
}

std::vector<std::string> Stack::stop() {
  std::vector<std::string> order{"remediator"};
  for (int i = 0; i < options_.alertmanagers; ++i) order.push_back(alertmanager_part(i));
  order.emplace_back("Prometheus");
  for (const StackNode& node : options_.nodes) order.push_back(exporter_part(node.name));
  for (const std::string& name : order) {
    if (parts_.contains(name)) parts_.at(name)->signal(SIGTERM);
  }
  std::vector<std::string> unclean;
  for (const std::string& name : order) {
    if (parts_.contains(name) && parts_.at(name)->stop() != 0) unclean.push_back(name);
  }
  parts_.clear();
  return unclean;
}

std::string Stack::logs() const {
  std::string text;
  for (const auto& [name, process] : parts_) {
    text += "--- " + name + "\n" + end_of(process->error_output()) + "\n";
  }
  return text;
}

}  // namespace gpuward::e2e
