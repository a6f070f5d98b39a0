#include "tests/karpenter/karpenter_fleet.h"

#include <algorithm>
#include <regex>
#include <stdexcept>
#include <utility>

#include "core/runtime/clock.h"
#include "tests/fakes/kube_objects.h"
#include "tests/karpenter/program.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/kubernetes_parts.h"
#include "tests/support/ports.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;

constexpr const char* kNodesPath = "/api/v1/nodes/";
constexpr const char* kPodsPath = "/api/v1/namespaces/default/pods";
constexpr const char* kClaimsPath = "/apis/karpenter.sh/v1/nodeclaims/";
constexpr const char* kPool = "gpus";
// Much shorter than the time after which the node controller treats a kubelet as dead.
constexpr seconds kHeartbeat{5};

// The only type of machine.
constexpr const char* kInstanceTypes = R"([{
  "name": "gpu.large", "architecture": "amd64", "operatingSystems": ["linux"],
  "resources": {"cpu": "16", "memory": "64Gi", "ephemeral-storage": "100Gi", "nvidia.com/gpu": "1"},
  "offerings": [{"Price": 1.5, "Available": true, "Requirements": [
    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}]}]}])";

// The NodePool that a user of Karpenter writes; the allowed disruption is appended.
constexpr const char* kNodePool = R"(
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  template:
    spec:
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      expireAfter: Never
  disruption: )";

constexpr const char* kWork = R"(
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: train, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: registry.example/train:1
        resources: {limits: {nvidia.com/gpu: 1}}
)";

std::string now_text() { return to_rfc3339_ms(lasting_clock().wall()); }

// Returns a value, so that a loop over it keeps it alive.
Json items_of(PlaneHands& hands, const std::string& path) { return hands.get(path)["items"]; }

std::string name_of(const Json& object) { return string_at(member_at(object, "metadata"), "name"); }

std::string node_of(const Json& pod) { return string_at(member_at(pod, "spec"), "nodeName"); }

bool is_ending(const Json& object) { return object["metadata"].contains("deletionTimestamp"); }

std::unique_ptr<support::Process> spawn(support::ProcessOptions options) {
  auto process = support::Process::spawn(std::move(options));
  if (!process) throw std::runtime_error(process.error().message);
  return std::move(*process);
}

std::string why_no_scheduler() {
  return support::find_kubernetes_parts().scheduler.empty()
             ? "no kube-scheduler on this machine: run `./dev deps --all`"
             : "";
}

std::string end_of(const std::string& text) {
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 6000));
}

}  // namespace

std::string KarpenterFleet::why_unavailable() {
  for (const std::string& why :
       {support::ControlPlane::why_unavailable(), support::ControlPlane::why_no_controllers(),
        why_no_scheduler(), support::why_no_karpenter()}) {
    if (!why.empty()) return why;
  }
  return {};
}

KarpenterFleet::KarpenterFleet(const KarpenterOptions& options) {
  hands_ = std::make_unique<PlaneHands>(support::ControlPlaneOptions{.controller_manager = true});
  kubectl({"apply", "-f", GPUWARD_SOURCE_DIR "/manifests/remediator-terminate-rbac.yaml"});
  kubectl({"create", "clusterrolebinding", "gpuward-remediator-terminate",
           "--clusterrole=gpuward-remediator-terminate",
           "--serviceaccount=gpuward:gpuward-remediator"});
  kubectl({"create", "-f", support::karpenter_folder().string()});
  kubectl({"wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"});
  start_karpenter(options);
  start_scheduler();
  kubectl({"apply", "-f", "-"}, kNodePool + options.disruption);
  kubectl({"apply", "-f", "-"}, kWork);
  start_remediator(options);
  if (!play_until([this] { return nodes().size() == 2; }))
    throw std::runtime_error("Karpenter makes no nodes: " + logs());
}

void KarpenterFleet::start_karpenter(const KarpenterOptions& options) {
  const std::string types = folder_.write("types.json", kInstanceTypes).string();
  // The shorter a batch, the sooner a node that was made for a pod counts as idle.
  karpenter_ = spawn(
      {.argv = {(support::karpenter_folder() / "karpenter").string(), "--disable-leader-election",
                "--metrics-port=" + std::to_string(support::free_port()),
                "--health-probe-port=" + std::to_string(support::free_port()),
                "--batch-idle-duration=200ms", "--batch-max-duration=1s",
                "--instance-types-file-path=" + types,
                std::string("--feature-gates=NodeRepair=") + (options.repairs ? "true" : "false")},
       .env = {{"KUBECONFIG", hands_->plane().kubeconfig().string()},
               {"SYSTEM_NAMESPACE", "kube-system"}}});
}

void KarpenterFleet::start_scheduler() {
  scheduler_ = spawn({.argv = support::scheduler_command(support::find_kubernetes_parts(),
                                                         hands_->plane().kubeconfig())});
}

void KarpenterFleet::start_remediator(const KarpenterOptions& options) {
  http::ServerOptions server;
  server.listen_addresses = {"127.0.0.1:0"};
  auto prometheus = http::Server::start(
      server,
      {{.path = "/api/v1/query",
        .methods = {"GET"},
        .handler = [this](const http::Request& request) { return answer_query(request); }}});
  if (!prometheus) throw std::runtime_error(prometheus.error().message);
  prometheus_ = std::move(*prometheus);
  const auto policy =
      folder_.write("policy.yaml", "mode: full\nstartup_grace: 0s\n" + options.policy);
  const std::string port = std::to_string(prometheus_->ports().front());
  remediator_ = spawn(
      {.argv = {GPUWARD_BIN_DIR "/gpuward-remediator", "--web.listen-address=127.0.0.1:0",
                "--web.telemetry-address=127.0.0.1:0", "--web.insecure",
                "--config.file=" + policy.string(), "--prometheus.url=http://127.0.0.1:" + port,
                "--kubeconfig=" + hands_->kubeconfig(), "--log.format=json"}});
  if (!support::poll_until([this] { return webhook_port() != 0; }))
    throw std::runtime_error("the remediator does not listen: " + logs());
}

void KarpenterFleet::kubectl(std::vector<std::string> words, const std::string& input) {
  const std::string what = words[0] + " " + words[1];
  const auto ran = hands_->plane().kubectl(std::move(words), input);
  if (!ran || ran->exit_code != 0)
    throw std::runtime_error("kubectl " + what + ": " + (ran ? ran->error_output : ""));
}

bool KarpenterFleet::play_until(const std::function<bool()>& is_reached, seconds limit) {
  return support::poll_until(
      [&] {
        turn();
        return is_reached();
      },
      limit);
}

void KarpenterFleet::turn() {
  for (const Json& node : items_of(*hands_, "/api/v1/nodes")) run_kubelet_of(node);
  run_pods();
  tell_alerts();
}

void KarpenterFleet::run_kubelet_of(const Json& node) {
  const std::string name = name_of(node);
  const auto now = std::chrono::steady_clock::now();
  if (const auto last = heartbeats_.find(name);
      last != heartbeats_.end() && now - last->second < kHeartbeat)
    return;
  Json status = fakes::ready_node(name)["status"];
  status["nodeInfo"]["bootID"] = "boot-" + name;
  Json& ready = status["conditions"][0];
  ready["status"] = "True";
  ready["lastHeartbeatTime"] = to_rfc3339(lasting_clock().wall());
  if (const auto sick = unhealthy_.find(name); sick != unhealthy_.end()) {
    status["conditions"].push_back(
        {{"type", "KWOKUnhealthy"},
         {"status", "True"},
         {"reason", "Test"},
         {"message", "a condition that the provider repairs"},
         {"lastHeartbeatTime", ready["lastHeartbeatTime"]},
         {"lastTransitionTime", to_rfc3339(lasting_clock().wall() - sick->second)}});
  }
  const std::string path = kNodesPath + name;
  // It may have been deleted since the list was read.
  if (hands_->has(path)) hands_->patch_status(path, {{"status", status}});
  heartbeats_[name] = now;
}

void KarpenterFleet::run_pods() {
  for (const Json& pod : items_of(*hands_, kPodsPath)) {
    const std::string path = std::string(kPodsPath) + "/" + name_of(pod);
    if (node_of(pod).empty() || !hands_->has(path)) continue;
    if (is_ending(pod)) {
      hands_->remove(path);
    } else if (string_at(pod["status"], "phase") != "Running") {
      hands_->patch_status(path, fakes::running_status());
    }
  }
}

void KarpenterFleet::break_gpu(const std::string& node, Severity severity) {
  const std::lock_guard lock(mutex_);
  alerts_[node] = {.severity = severity,
                   .since = now_text(),
                   .fingerprint = "ab" + std::to_string(alerts_.size())};
}

void KarpenterFleet::report_unhealthy(const std::string& node, std::chrono::minutes since) {
  unhealthy_[node] = since;
  heartbeats_.erase(node);
}

void KarpenterFleet::tell_alerts() {
  const std::lock_guard lock(mutex_);
  for (auto& [node, alert] : alerts_) {
    if (alert.is_told) continue;
    const Json one = {{"status", "firing"},
                      {"labels",
                       {{"alertname", "Bad"},
                        {"node", node},
                        {"remediation", std::string(to_string(alert.severity))}}},
                      {"annotations", Json::object()},
                      {"startsAt", alert.since},
                      {"endsAt", "0001-01-01T00:00:00Z"},
                      {"fingerprint", alert.fingerprint}};
    const auto answer = support::http_post(
        "http://127.0.0.1:" + std::to_string(webhook_port()) + "/api/v1/alerts",
        dump_json({{"version", "4"}, {"truncatedAlerts", 0}, {"alerts", Json::array({one})}}));
    alert.is_told = answer.status == 200;
    // 503 means: retry later.
    if (answer.status == 400) throw std::runtime_error(answer.body);
  }
}

int KarpenterFleet::webhook_port() const {
  static const std::regex kLine("Webhook is served[^\n]*\"port\":\"?([0-9]+)");
  const std::string log = remediator_->error_output();
  std::smatch match;
  return std::regex_search(log, match, kLine) ? std::stoi(match[1].str()) : 0;
}

http::Response KarpenterFleet::answer_query(const http::Request& request) {
  static const std::regex kNode("node%3D%22([a-z0-9.-]+)%22");
  std::smatch match;
  if (!std::regex_search(request.query, match, kNode)) return http::Response::json(400, "{}");
  const std::string node = match[1];
  Severity severity = Severity::kNone;
  {
    const std::lock_guard lock(mutex_);
    if (const auto alert = alerts_.find(node); alert != alerts_.end())
      severity = alert->second.severity;
  }
  const auto now = std::chrono::duration<double>(lasting_clock().wall().time_since_epoch()).count();
  const auto sample = [&](const char* what, const std::string& value) {
    return Json{{"metric", {{"what", what}, {"boot_id", "boot-" + node}}},
                {"value", Json::array({now, value})}};
  };
  const std::string number = std::to_string(static_cast<int>(severity));
  Json observed = sample("observed", std::to_string(now));
  observed["metric"]["severity"] = std::string(to_string(severity));
  return http::Response::json(
      200, dump_json(
               {{"status", "success"},
                {"data",
                 {{"resultType", "vector"},
                  {"result",
                   Json::array({sample("measured_at", std::to_string(now)),
                                sample("severity", number), sample("confirmed_severity", number),
                                sample("kernel_log_up", "1"), sample("boot", "1"), observed})}}}}));
}

void KarpenterFleet::forbid_evictions() {
  kubectl(
      {"create", "poddisruptionbudget", "train", "--selector=app=train", "--min-available=100%"});
}

void KarpenterFleet::annotate(const std::string& node, const std::string& annotation) {
  kubectl({"annotate", "node", node, annotation});
}

void KarpenterFleet::approve(const std::string& node) {
  const std::string token = string_at(member_at(status(node), "approval"), "token");
  const auto said =
      support::Process::run({.argv = {GPUWARD_BIN_DIR "/gpuwardctl", "approve", node, token,
                                      "--kubeconfig=" + hands_->kubeconfig_of_human()}});
  if (!said || said->exit_code != 0)
    throw std::runtime_error("gpuwardctl: " + (said ? said->error_output : said.error().message));
}

std::vector<std::string> KarpenterFleet::nodes() {
  std::vector<std::string> names;
  for (const Json& pod : items_of(*hands_, kPodsPath)) {
    if (!is_ending(pod) && string_at(pod["status"], "phase") == "Running")
      names.push_back(node_of(pod));
  }
  std::ranges::sort(names);
  return names;
}

bool KarpenterFleet::has_node(const std::string& node) { return hands_->has(kNodesPath + node); }

std::size_t KarpenterFleet::pods_on(const std::string& node) {
  return static_cast<std::size_t>(std::ranges::count(items_of(*hands_, kPodsPath), node, node_of));
}

std::string KarpenterFleet::node_claim_of(const std::string& node) {
  return string_at(hands_->get(kNodesPath + node)["metadata"]["ownerReferences"][0], "name");
}

bool KarpenterFleet::has_node_claim(const std::string& name) {
  return hands_->has(kClaimsPath + name);
}

Json KarpenterFleet::status(const std::string& node) {
  for (const Json& one : items_of(*hands_, "/apis/gpuward.dev/v1alpha1/remediations")) {
    if (string_at(member_at(one, "spec"), "nodeName") == node) return member_at(one, "status");
  }
  return nullptr;
}

std::string KarpenterFleet::phase(const std::string& node) {
  return string_at(status(node), "phase");
}

std::string KarpenterFleet::message(const std::string& node) {
  return string_at(status(node), "message");
}

std::string KarpenterFleet::logs() const {
  const auto events = hands_->plane().kubectl({"get", "events", "-A"}, "");
  return "Events: " + (events ? end_of(events->output) : "") +
         "\nKarpenter: " + end_of(karpenter_->output()) + end_of(karpenter_->error_output()) +
         "\nscheduler: " + end_of(scheduler_->error_output()) +
         "\nremediator: " + (remediator_ ? end_of(remediator_->error_output()) : "");
}

}  // namespace gpuward::remediator
