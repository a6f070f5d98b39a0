#include "tests/unit/remediator/remediation_stage.h"

#include <signal.h>

#include <algorithm>
#include <regex>
#include <stdexcept>
#include <utility>

#include "core/model/severity.h"
#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "remediator/decide/budgets/ledger_text.h"
#include "tests/fakes/kube_objects.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;

constexpr const char* kProgram = GPUWARD_BIN_DIR "/gpuward-remediator";
constexpr const char* kCommandLine = GPUWARD_BIN_DIR "/gpuwardctl";
constexpr const char* kConfigMaps = "/api/v1/namespaces/gpuward/configmaps";
constexpr const char* kSwitch = "/api/v1/namespaces/gpuward/configmaps/gpuward-remediator-switch";
constexpr const char* kLedgerMap = "/api/v1/namespaces/gpuward/configmaps/gpuward-ledger";
constexpr const char* kLeasePath =
    "/apis/coordination.k8s.io/v1/namespaces/gpuward/leases/gpuward-remediator";
constexpr const char* kDaemonPod = "daemon";

std::string now_text() { return to_rfc3339_ms(lasting_clock().wall()); }

}  // namespace

RemediationStage::RemediationStage(ClusterHands& hands, StageOptions options)
    : hands_(hands),
      kubeconfig_(hands.kubeconfig()),
      fired_at_(now_text()),
      alerted_(options.severity),
      environment_(options.environment),
      severity_(static_cast<int>(*parse_severity(options.severity))),
      machine_restarts_(options.machine_restarts) {
  write_policy(options);
  put_node(options.provider_id);
  put_pods(options.pods);
  set_stop("false");
}

void RemediationStage::write_policy(const StageOptions& options) {
  const std::string program = (folder_ / "power-cycle").string();
  folder_.write("power-cycle",
                "cat >> '" + (folder_ / "calls").string() + "'\n" + options.machine + "\n");
  if (!options.policy.empty()) {
    folder_.write("policy.yaml", options.policy);
    return;
  }
  // A remediation that escalates ends in this plan.
  const std::string end = options.severity == "isolate" ? "" : "\n  isolate: [taint, cordon]";
  folder_.write("policy.yaml", "mode: full\nseverities:\n  " + options.severity + ": " +
                                   options.plan + end + "\nmachines:\n  reboot: [/bin/sh, " +
                                   program + "]\n" + options.more_policy);
}

void RemediationStage::put_node(const std::string& provider_id) {
  Json node = fakes::ready_node(kStageNode);
  if (!provider_id.empty()) node["spec"]["providerID"] = provider_id;
  hands_.create("/api/v1/nodes", node);
  // Labels, annotations and a taint of other programs. The patch removes the initial taint of the
  // node.
  hands_.patch(
      kStageNodePath,
      {{"metadata", {{"labels", {{"theirs", "1"}}}, {"annotations", {{"theirs", "1"}}}}},
       {"spec",
        {{"taints",
          Json::array({{{"key", "theirs"}, {"value", "1"}, {"effect", "PreferNoSchedule"}}})}}}});
  hands_.make_old(kStageNode);
}

void RemediationStage::put_pods(std::size_t count) {
  for (std::size_t i = 1; i <= count; ++i) put_pod("work-" + std::to_string(i), "ReplicaSet");
  put_pod(kDaemonPod, "DaemonSet");
}

void RemediationStage::put_pod(const std::string& name, const std::string& owner_kind) {
  Json pod = fakes::pod(name, kStageNode, {{"app", owner_kind == "DaemonSet" ? "daemon" : "work"}});
  pod["metadata"]["ownerReferences"] = Json::array({{{"apiVersion", "apps/v1"},
                                                     {"kind", owner_kind},
                                                     {"name", "owner"},
                                                     {"uid", "owner-of-" + name},
                                                     {"controller", true}}});
  hands_.create(kStagePods, pod);
  hands_.patch_status(std::string(kStagePods) + "/" + name, fakes::running_status());
}

void RemediationStage::set_stop(const std::string& value) {
  const Json data = {{"stop", value}};
  if (hands_.has(kSwitch)) {
    hands_.patch(kSwitch, {{"data", data}});
    return;
  }
  hands_.create(kConfigMaps, {{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", {{"name", "gpuward-remediator-switch"}}},
                              {"data", data}});
}

void RemediationStage::start() {
  auto process = support::Process::spawn(
      {.argv = {kProgram, "--web.listen-address=127.0.0.1:0", "--web.telemetry-address=127.0.0.1:0",
                "--web.insecure", "--config.file=" + (folder_ / "policy.yaml").string(),
                "--prometheus.url=" + prometheus_.url(), "--kubeconfig=" + kubeconfig_,
                "--log.format=json"},
       .env = environment_});
  if (!process) throw std::runtime_error(process.error().message);
  process_ = std::move(*process);
  pid_ = process_->pid();
  is_told_ = false;
  // A process that a test kills while it starts does not listen.
  const bool listens = support::poll_until([&] { return !runs() || webhook_port() != 0; });
  if (!listens) throw std::runtime_error("it does not listen: " + log());
}

void RemediationStage::kill_process() {
  process_->signal(SIGKILL);
  (void)process_->wait_exit();
}

void RemediationStage::start_anew() {
  if (hands_.has(kLeasePath)) hands_.remove(kLeasePath);
  start();
}

support::Process::Outcome RemediationStage::say(std::vector<std::string> words) {
  words.insert(words.begin(), kCommandLine);
  words.push_back("--kubeconfig=" + hands_.kubeconfig_of_human());
  auto outcome = support::Process::run({.argv = std::move(words)});
  if (!outcome) throw std::runtime_error(outcome.error().message);
  return *std::move(outcome);
}

void RemediationStage::turn() {
  run_machine();  // before the kubelet, because it must see which pods are left
  if (kubelet_works_) end_terminating_pods();
  repeat_alert();
}

bool RemediationStage::play_until(const std::function<bool()>& is_reached, seconds limit) {
  return support::poll_until(
      [&] {
        turn();
        return is_reached();
      },
      limit);
}

void RemediationStage::end_terminating_pods() {
  const Json list = hands_.get(kStagePods);
  for (const Json& pod : list["items"]) {
    if (!pod["metadata"].contains("deletionTimestamp")) continue;
    const std::string path = std::string(kStagePods) + "/" + string_at(pod["metadata"], "name");
    if (hands_.has(path)) hands_.remove(path);
  }
}

// The alert ends before the node is back, whose exporter then reports the next boot.
void RemediationStage::run_machine() {
  if (!machine_restarts_ || calls().size() <= restarts_) return;
  if (fires_) {
    at_call_ = pods();
    fires_ = is_told_ = false;
  }
  repeat_alert();
  if (!is_told_) return;
  severity_ = 0;
  ++restarts_;
  hands_.patch_status(kStageNodePath, {{"status", {{"nodeInfo", {{"bootID", boot_id()}}}}}});
}

void RemediationStage::repeat_alert() {
  const int port = is_told_ || !runs() ? 0 : webhook_port();
  if (port == 0) return;
  const Json alert = {
      {"status", fires_ ? "firing" : "resolved"},
      {"labels", {{"alertname", "Bad"}, {"node", kStageNode}, {"remediation", alerted_}}},
      {"annotations", Json::object()},
      {"startsAt", fired_at_},
      {"endsAt", fires_ ? "0001-01-01T00:00:00Z" : now_text()},
      {"fingerprint", "ab12"}};
  const auto answer = support::http_post(
      "http://127.0.0.1:" + std::to_string(port) + "/api/v1/alerts",
      dump_json({{"version", "4"}, {"truncatedAlerts", 0}, {"alerts", Json::array({alert})}}));
  is_told_ = answer.status == 200;
}

int RemediationStage::webhook_port() const {
  const std::string text = log();
  static const std::regex kLine("Webhook is served[^\n]*\"port\":\"?([0-9]+)");
  std::smatch match;
  return std::regex_search(text, match, kLine) ? std::stoi(match[1].str()) : 0;
}

std::string RemediationStage::boot_id() const {
  return std::string("boot-") + kStageNode + (restarts_ == 0 ? "" : "-again");
}

std::string RemediationStage::report() const {
  const auto since_epoch = lasting_clock().wall().time_since_epoch();
  const auto now = std::chrono::duration<double>(since_epoch).count();
  const auto sample = [&](const char* what, const std::string& value) {
    return Json{{"metric", {{"what", what}, {"boot_id", boot_id()}}},
                {"value", Json::array({now, value})}};
  };
  const std::string severity = std::to_string(severity_.load());
  Json observed = sample("observed", std::to_string(now));
  observed["metric"]["severity"] = std::string(to_string(static_cast<Severity>(severity_.load())));
  return dump_json(
      {{"status", "success"},
       {"data",
        {{"resultType", "vector"},
         {"result",
          Json::array({sample("measured_at", std::to_string(now)), sample("severity", severity),
                       sample("confirmed_severity", severity), sample("kernel_log_up", "1"),
                       sample("boot", "1"), observed})}}}});
}

Json RemediationStage::remediation() {
  const Json list = hands_.get(kStageRemediations);
  for (const Json& one : list["items"]) {
    if (string_at(member_at(one, "spec"), "nodeName") == kStageNode) return one;
  }
  return nullptr;
}

Json RemediationStage::status() { return member_at(remediation(), "status"); }
std::string RemediationStage::phase() { return string_at(status(), "phase"); }
std::string RemediationStage::rule() { return string_at(status(), "rule"); }
std::string RemediationStage::message() { return string_at(status(), "message"); }

Json RemediationStage::step(const std::string& name) {
  const Json now = status();
  for (const Json& one : member_at(now, "steps")) {
    if (string_at(one, "name") == name) return one;
  }
  return nullptr;
}

Json RemediationStage::node() { return hands_.get(kStageNodePath); }
bool RemediationStage::is_cordoned() { return node()["spec"].value("unschedulable", false); }
bool RemediationStage::is_tainted() { return fakes::has_taint(node(), "gpuward.dev/remediation"); }

std::vector<std::string> RemediationStage::pods() {
  std::vector<std::string> names;
  const Json list = hands_.get(kStagePods);
  for (const Json& pod : list["items"]) {
    const std::string name = string_at(pod["metadata"], "name");
    if (name != kDaemonPod) names.push_back(name);
  }
  return names;
}

std::vector<Json> RemediationStage::calls() const {
  std::vector<Json> found;
  const auto text = read_file((folder_ / "calls").string(), 1U << 20U);
  if (!text) return found;
  for (std::size_t begin = 0, end = 0; (end = text->find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    found.push_back(parse_json(text->substr(begin, end - begin)).value_or(Json()));
  }
  return found;
}

std::size_t RemediationStage::slots_held() {
  if (!hands_.has(kLedgerMap)) return 0;
  const auto ledger = decode_ledger(string_at(hands_.get(kLedgerMap)["data"], "ledger"));
  return ledger ? ledger->slots.size() : 0;
}

std::string RemediationStage::lost_foreign_state() {
  const Json now = node();
  if (fakes::label_of(now, "theirs") != "1") return "a label";
  if (fakes::annotation_of(now, "theirs") != "1") return "an annotation";
  if (!fakes::has_taint(now, "theirs")) return "a taint";
  const auto all = hands_.get(kStagePods)["items"];
  return all.empty() ? "the daemon's pod" : "";
}

}  // namespace gpuward::remediator
