#include "tests/pages/scene.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "core/kube/decode.h"
#include "core/kube/node_findings.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/exclusions_json.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "remediator/tell/page/pages.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::pages {
namespace {

using namespace remediator;
using namespace std::chrono_literals;

struct Fault {
  Severity severity;
  const char* code;
  const char* meaning;
  const char* line;
};

constexpr std::array kFaults = {
    Fault{Severity::kReboot, "79", "The GPU no longer answers on PCI Express",
          "NVRM: Xid (PCI:0000:4e:00): 79, GPU has fallen off the bus."},
    Fault{Severity::kReset, "95", "A memory error that could not be contained",
          "NVRM: Xid (PCI:0000:4e:00): 95, pid=4711, Uncontained: LTC TAG"},
    Fault{Severity::kMonitor, "13", "A program has made a graphics engine exception",
          "NVRM: Xid (PCI:0000:4e:00): 13, pid=4711, name=python3"},
    Fault{Severity::kIsolate, "64", "A faulty row of memory could not be remapped",
          "NVRM: Xid (PCI:0000:4e:00): 64, pid='<unknown>', name=<unknown>"}};

struct Standing {
  Phase phase;
  const char* rule;
  const char* message;
};

constexpr std::array kStandings = {
    Standing{Phase::kWaiting, "guard.approval", "reboot waits for an approval"},
    Standing{Phase::kDraining, "step.drain",
             "2 pods left: 1 blocked by disruption budget web: default/web-5bb9f8794b-jlpfb"},
    Standing{Phase::kQuarantined, "budget.pool",
             "cordon waits: pool p5 may have 4 nodes out of service at once, and has 4"},
    Standing{Phase::kHeld, "exhausted",
             "the policy's steps are done: held for an operator. To return the node to service: "
             "gpuwardctl cancel "},
    Standing{Phase::kVerifying, "step.verify", "healthy for 4 of 10 min"},
    Standing{Phase::kRebooting, "step.reboot", "the machine was asked to restart 2 min ago"}};

kube::ApiOptions options_of_the_fake() {
  kube::ApiOptions options;
  options.server = "http://fake";
  return options;
}

std::string name_of(int number) {
  std::array<char, 16> text{};
  (void)std::snprintf(text.data(), text.size(), "gpu-%03d", number);
  return text.data();
}

const Fault& fault_of(int number) {
  return kFaults[static_cast<std::size_t>(number + 3) % kFaults.size()];
}

NodeFinding finding_of(int number, WallTime at) {
  const Fault& fault = fault_of(number);
  NodeFinding finding;
  finding.check = "xid";
  finding.code = fault.code;
  finding.severity = to_string(fault.severity);
  finding.gpu = std::to_string(number % 8);
  finding.pci_bus_id = "0000:4e:00";
  finding.serial = "16500000" + std::to_string(100 + number);
  finding.meaning = fault.meaning;
  finding.line = fault.line;
  finding.workload = "training/llama-70b-worker-" + std::to_string(number);
  finding.first_seen = finding.last_seen = at;
  return finding;
}

StepRecord step_of(Step step, WallTime from, std::string message) {
  StepRecord record;
  record.step = step;
  record.result = StepResult::kDone;
  record.intent_at = from;
  record.finished_at = from + 20s;
  record.attempts = 1;
  record.message = std::move(message);
  return record;
}

Remediation remediation_of(int number, WallTime opened) {
  const Severity severity = fault_of(number).severity;
  Remediation one;
  one.node = name_of(number);
  one.name = one.node + "-1";
  one.created = opened;
  one.severity = severity;
  AlertEvidence alert;
  alert.alertname = "GpuNodeNeedsReboot";
  alert.fingerprint = "ab";
  alert.severity = severity;
  alert.starts_at = opened - 5s;
  one.alerts.push_back(alert);
  one.status.findings.push_back(finding_of(number, opened - 9s));
  one.status.steps = {step_of(Step::kTaint, opened + 1s, "severity reboot: taint, cordon"),
                      step_of(Step::kCordon, opened + 1s, "severity reboot: taint, cordon"),
                      step_of(Step::kDrain, opened + 30s, "drained; 1 pod stays: 1 of DaemonSets")};
  one.status.reasons = {"alert GpuNodeNeedsReboot fires",
                        "policy severities.reboot in mode full: taint, cordon, drain, reboot"};
  one.status.mode = Mode::kFull;
  return one;
}

Remediation open_one(int number, WallTime opened) {
  Remediation one = remediation_of(number, opened);
  const Standing& standing = kStandings[static_cast<std::size_t>(number + 5) % kStandings.size()];
  one.status.phase = standing.phase;
  one.status.rule = standing.rule;
  one.status.message = standing.message;
  if (one.status.message.ends_with(" cancel ")) one.status.message += one.node;
  if (one.status.phase != Phase::kWaiting) return one;
  ApprovalRecord asked;
  asked.step = Step::kReboot;
  asked.token = "7f3a9c";
  asked.requested_at = opened + 60s;
  one.status.approval = asked;
  return one;
}

void cancel(Remediation& one, WallTime now) {
  one.status.phase = Phase::kCancelled;
  one.status.message = "cancelled by annotation";
  one.status.closed_at = now - 5min;
  one.alerts[0].ended_at.reset();
  one.wish.cancel = true;
  one.wish.last_command = to_rfc3339(now - 5min) + " cancel by alice";
}

}  // namespace

SceneSize scene_size(std::string_view name) {
  if (name == "empty") return {.nodes = 0};
  if (name == "busy") return {.nodes = 400, .open = 24, .closed = 60};
  if (name == "broken") return {.nodes = 40, .open = 6, .closed = 3, .is_broken = true};
  return {.nodes = 400, .closed = 12};
}

Scene::Scene(SceneSize size, const Dress& dress)
    : size_(size),
      api_(options_of_the_fake(), http_, credentials_, clock_),
      policy_(Policy()),
      site_(view_, policy_, api_, "default", clock_) {
  Policy policy;
  policy.mode = Mode::kFull;
  policy.cluster = "prod-eu";
  policy.budgets.cluster.at_once.nodes = 4;
  policy_.set(policy);
  add_objects();
  add_nodes();
  add_remediations();
  view_.informers().note_synced(Informer::kNodes);
  view_.informers().note_synced(Informer::kRemediations);
  auto routes = telemetry_routes(
      {.families = [] { return metrics::Families(); }, .objection = [] { return std::nullopt; }},
      http::Access::kOpen);
  for (http::Route& route : site_.routes()) routes.push_back(std::move(route));
  if (dress) routes = dress(std::move(routes));
  http::ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  auto server = http::Server::start(options, std::move(routes));
  if (!server) {
    std::cerr << server.error().message << "\n";
    std::exit(1);
  }
  server_ = *std::move(server);
}

std::string Scene::url() const {
  return "http://127.0.0.1:" + std::to_string(server_->ports().front()) + "/";
}

void Scene::add_objects() {
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  kube_.create(maps, {{"metadata", {{"name", kSwitchName}}},
                      {"data", {{"stop", size_.is_broken ? "true" : "false"}}}});
  const auto renewed = clock_.wall() + (size_.is_broken ? -10min : 24h);
  kube_.create("/apis/coordination.k8s.io/v1/namespaces/default/leases",
               {{"metadata", {{"name", "gpuward-remediator"}}},
                {"spec",
                 {{"holderIdentity", "gpuward-remediator-6f9b967847-mbql2"},
                  {"leaseDurationSeconds", 15},
                  {"renewTime", to_rfc3339(renewed)}}}});
  if (size_.open > 0) {
    const ExclusionList list{{"gpu-100",
                              {.since = clock_.wall() - 1h,
                               .until = clock_.wall() + 11h,
                               .reason = "firmware update",
                               .by = "bob"}}};
    kube_.create(maps,
                 {{"metadata", {{"name", kExclusionMap}}}, {"data", encode_exclusions(list)}});
  }
  Ledger ledger;
  if (size_.is_broken) {
    ledger = open_breaker({}, "12 nodes of 40 got a new remediation within 10 min", clock_.wall());
  }
  for (int i = 1; i <= std::min(size_.open, 4); ++i) {
    Slot slot;
    slot.remediation = name_of(i) + "-1";
    slot.node_uid = "uid-" + name_of(i);
    slot.place.pool = "p5";
    slot.impact = i == 1 ? Impact::kDisrupt : Impact::kCordon;
    slot.since = clock_.wall();
    ledger = with_slot(std::move(ledger), slot);
  }
  (void)LedgerStore(api_, {.ns = "default"}, clock_).begin([&]() -> Result<Ledger> {
    return ledger;
  });
}

void Scene::add_nodes() {
  for (int i = 1; i <= size_.nodes; ++i) {
    Json json = fakes::ready_node(name_of(i));
    json["metadata"]["uid"] = "uid-" + name_of(i);
    json["metadata"]["labels"]["nvidia.com/gpu.present"] = "true";
    json["metadata"]["labels"]["karpenter.sh/nodepool"] = "p5";
    json["status"]["capacity"] = {{"nvidia.com/gpu", "8"}};
    if (i <= size_.open) {
      json["spec"]["unschedulable"] = true;
    }
    report(i, json);
    auto node = *kube::decode_node(json);
    auto census = fleet_node(node, place_keys(policy_.get()->budgets));
    view_.put_node(std::move(node), std::move(census));
  }
}

// In the form of its exporter. After the open ones comes a node whose Remediation was cancelled; in
// a broken scene two exporters are silent.
void Scene::report(int number, Json& json) {
  const bool is_broken = size_.open > 0 && number <= size_.open + 1;
  const Severity severity = is_broken ? fault_of(number).severity : Severity::kNone;
  const bool is_silent = size_.is_broken && number > size_.nodes - 2;
  json["metadata"]["labels"]["gpuward.dev/severity"] = to_string(severity);
  json["status"]["conditions"].push_back(
      {{"type", "GPUProblem"},
       {"status", severity >= Severity::kReset ? "True" : "False"},
       {"lastHeartbeatTime", to_rfc3339(clock_.wall() - (is_silent ? 1h : 0h))}});
  if (is_broken) {
    json["metadata"]["annotations"][std::string(kFindingsAnnotation)] =
        node_findings_text({finding_of(number, clock_.wall() - 3h)});
  }
}

void Scene::add_remediations() {
  const auto now = clock_.wall();
  for (int i = 1; i <= size_.open; ++i) view_.put_remediation(open_one(i, now - i * 7min));
  for (int i = 1; i <= size_.closed; ++i) {
    Remediation one = remediation_of(size_.open + i, now - i * 9h);
    one.status.phase = i % 5 == 0 ? Phase::kReplaced : Phase::kReleased;
    one.status.message = "verified healthy for 10 min";
    one.status.closed_at = now - i * 9h + 40min;
    one.alerts[0].ended_at = one.status.closed_at;
    if (i == 1 && size_.open > 0) cancel(one, now);
    view_.put_remediation(std::move(one));
  }
}

}  // namespace gpuward::pages
