#include "tests/simulation/wire.h"

#include <algorithm>

#include "core/kube/decode.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/decide/budgets/ledger_text.h"
#include "tests/simulation/care.h"
#include "tests/simulation/pod_ends.h"
#include "tests/simulation/step_jobs.h"

namespace gpuward::remediator::simulation {
namespace {

using fakes::FaultKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr double kLateRace = 0.15;  // per request in the quiet time
constexpr std::string_view kNodeLeases = "/namespaces/kube-node-lease/leases";

bool is_write(const http::ClientRequest& request) { return request.method != "GET"; }

// The names of Jobs, and the server's answers about them, differ in every replay.
std::string path_of(const Address& to, const std::string& url) {
  return to.resource == Resource::kJob ? "/jobs" : url.substr(url.rfind("/v1") + 3);
}

// Whether the request is about the pod of a Job, which the kubelets of Jobs handle.
bool is_of_job(const std::string& url) { return url.contains("/" + kJobNamespace + "/"); }

std::string name_in(const std::string& body) {
  const auto object = parse_json(body);
  return object ? string_at(member_at(*object, "metadata"), "name") : std::string();
}

}  // namespace

bool Wire::is_interrupted() {
  if (!stage_.is_quiet) return stage_.chance.happens(stage_.setting.interrupt);
  return stage_.setting.has_late_races && stage_.races_chance.happens(kLateRace);
}

Result<http::ClientResponse> Wire::send(const http::ClientRequest& request) {
  const Address to = address_of(request);
  if (is_write(request)) check_leads(to);
  if (is_write(request) && to.resource == Resource::kPods) invariants_.waves().on_sent(request);
  const bool is_work = to.resource != Resource::kLease;
  stage_.looks.back()->sent = stage_.tick;
  if (is_work && is_interrupted()) interrupt_();
  ++stage_.tick;
  if (is_work) invariants_.requests().on_request();
  crash_perhaps("before");
  auto answer = send_or_fail(to, request);
  crash_perhaps("after");
  // An error says nothing about the operators' wishes.
  if (!answer || answer->status / 100 != 2) return answer;
  if (to.resource < Resource::kSwitch) stage_.looks.back()->told = stage_.tick;
  if (to.resource == Resource::kSwitch) stage_.looks.back()->permitted = stage_.tick;
  if (!is_write(request)) note_read(to);
  if (to.resource == Resource::kExclusions) stage_.exclusions.note_told(identity_);
  if (to.resource == Resource::kLedger)
    invariants_.restore().on_ledger_seen(identity_, answer->body);
  return answer;
}

void Wire::note_read(const Address& to) {
  Look& look = *stage_.looks.back();
  if (to.name.empty()) return;
  if (to.resource == Resource::kNode) look.node_read = stage_.tick;
  if (to.resource == Resource::kRemediation) look.remediation_read = stage_.tick;
}

// Judges by the time when the request is sent: the sender cannot know how long it takes. Leaves out
// what every replica may write.
void Wire::check_leads(const Address& to) const {
  const bool is_leaders = to.resource == Resource::kNode || to.resource == Resource::kStatus ||
                          to.resource == Resource::kLedger || to.resource == Resource::kJob ||
                          to.resource == Resource::kPods;
  // a replica that has noticed a restore opens the breaker
  if (to.resource == Resource::kLedger && stage_.noticed.contains(identity_)) return;
  require(!is_leaders || stage_.holder == identity_, "leader",
          identity_ + " writes " + to.name + " and " + stage_.holder + " has the lease");
}

void Wire::crash_perhaps(const char* when) {
  if (stage_.is_quiet || !stage_.chance.happens(stage_.setting.crash / 2)) return;
  stage_.trace.say("crash " + std::string(when) + " the request");
  throw Crash{};
}

// Sends the request, perhaps with a fault: it fails without effect, or takes effect and the answer
// is lost.
Result<http::ClientResponse> Wire::send_or_fail(const Address& to,
                                                const http::ClientRequest& request) {
  if (stage_.is_quiet || !stage_.chance.happens(stage_.setting.fault)) {
    auto answer = forward(to, request);
    // The replica knows its own write, if it learns that it was written.
    const bool is_written = answer && answer->status / 100 == 2 && is_write(request);
    if (to.resource == Resource::kLedger && is_written)
      stage_.ledger_told[stage_.looks.back()->who] = stage_.tick;
    return answer;
  }
  const auto kind = stage_.chance.between(0, 7);
  stage_.trace.say("fault " + std::to_string(kind) + " of " + request.method + " " + to.name);
  if (kind == 0) {
    stage_.clock.advance(std::min<milliseconds>(request.timeout, seconds(10)));
    return fail(ErrorKind::kTimeout, "no answer; not done");
  }
  if (kind == 1) {
    (void)forward(to, request);
    stage_.clock.advance(std::min<milliseconds>(request.timeout, seconds(10)));
    return fail(ErrorKind::kTimeout, "no answer; done");
  }
  if (kind == 2) {
    (void)forward(to, request);
    return fail(ErrorKind::kUnavailable, "the connection was cut; done");
  }
  constexpr std::array kKinds = {FaultKind::kDropBefore, FaultKind::kConflict,
                                 FaultKind::kOverloaded, FaultKind::kInternalError,
                                 FaultKind::kUnavailable};
  fakes::Fault fault;
  fault.kind = kKinds[static_cast<std::size_t>(kind - 3)];
  stage_.kube.add_fault(fault);
  auto answer = client_.send(request);
  stage_.kube.clear_faults();
  return answer;
}

Result<http::ClientResponse> Wire::forward(const Address& to, const http::ClientRequest& request) {
  if (const auto of = request.url.find(kNodeLeases); of != std::string::npos) {
    const std::string_view node = std::string_view(request.url).substr(of + kNodeLeases.size());
    return stage_.node_leases(node.starts_with('/') ? node.substr(1) : std::string_view());
  }
  if (auto answer = swallowed(stage_, to, request)) return *answer;
  if (auto answer = refused_by_webhook(stage_, request)) return *answer;
  auto answer = client_.send(bent_request(stage_, to, request));
  if (is_write(request) && answer) keep(request, *answer);
  if (is_write(request) && to.resource != Resource::kLease) {
    stage_.trace.say(stage_.looks.back()->who + ": " + request.method + " " +
                     path_of(to, request.url) + " " +
                     (answer ? std::to_string(answer->status) : answer.error().message));
  }
  const bool is_refused = answer && answer->status / 100 != 2;
  if (is_refused && to.resource == Resource::kPods) ++stage_.refused_evictions;
  if (!answer || is_refused) return answer;
  hear(to, request, answer->body);
  answer->body = bent_answer(stage_, to, is_write(request), std::move(answer->body));
  return answer;
}

void Wire::keep(const http::ClientRequest& request, const http::ClientResponse& answer) {
  if (!stage_.keeps_writes) return;
  stage_.keep({request.method, request.url.substr(request.url.find('/', sizeof("http://"))),
               parse_json(request.body).value_or(nullptr), answer.status,
               parse_json(answer.body).value_or(nullptr)});
}

void Wire::hear(const Address& to, const http::ClientRequest& request, const std::string& body) {
  if (to.resource == Resource::kNode && !to.name.empty()) {
    if (is_write(request)) return hear_node(body);
    const NodeTruth* const node = stage_.truth.node(to.name);
    // A permit may read another node than the one of the look.
    if (node != nullptr && !stage_.asks_leave) stage_.looks.back()->node = node->node;
  } else if (to.resource == Resource::kLease) {
    if (is_write(request)) hear_lease(body);
  } else if (to.resource == Resource::kJob) {
    hear_job(request, body);
  } else if (to.resource == Resource::kExclusions) {
    hear_exclusions(request, body);
  } else if (to.resource == Resource::kPods) {
    const bool is_trial = request.body.contains("\"dryRun\"");
    if (!is_write(request) || is_trial || is_of_job(request.url)) return;
    invariants_.evictions().on_removed(request);
    invariants_.drills().check_call(stage_.evicts_for, Step::kDrain,
                                    stage_.looks.back()->permitted);
  } else if (to.resource == Resource::kLedger) {
    if (is_write(request)) return hear_ledger(request.body);
    stage_.ledger_told[stage_.looks.back()->who] = stage_.tick;
  } else if (to.resource < Resource::kSwitch && is_write(request)) {
    hear_remediation(to.name.empty() ? name_in(request.body) : to.name);
  }
  if (to.resource == Resource::kRemediation || to.resource == Resource::kStatus) hear_version(to);
}

// Notes the version that the replica has read, or all of them if it has listed them.
void Wire::hear_version(const Address& to) {
  auto& versions = stage_.looks.back()->versions;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (to.name.empty() || to.name == name) versions[name] = remediation.resource_version;
  }
}

void Wire::hear_job(const http::ClientRequest& request, const std::string& body) {
  if (request.method == "POST") return invariants_.on_job_made(*parse_json(body));
  if (request.method == "PATCH") return stage_.on_job_patched(*parse_json(body));
  if (request.method != "DELETE") return;
  stage_.jobs.end(request.url.substr(request.url.rfind('/') + 1));
}

// A replica knows the list that it writes.
void Wire::hear_exclusions(const http::ClientRequest& request, const std::string& body) {
  if (!is_write(request)) return;
  const auto list = exclusions_in(*parse_json(body));
  stage_.exclusions.put(&list, stage_.say_now());
}

void Wire::hear_lease(const std::string& body) {
  const Json lease = *parse_json(body);
  stage_.holder = string_at(member_at(lease, "spec"), "holderIdentity");
}

void Wire::hear_ledger(const std::string& body) {
  const Json config_map = *parse_json(body);
  Ledger ledger = *decode_ledger(string_at(config_map["data"], "ledger"));
  if (config_map["data"].contains("taints"))
    ledger.taints = *decode_taints(string_at(config_map["data"], "taints"));
  invariants_.ledger().on_ledger_written(ledger);
  invariants_.taints().on_ledger_written(ledger);
  invariants_.care().on_ledger_written(ledger);
  invariants_.restore().on_ledger_written(identity_);
  stage_.truth.put_ledger(std::move(ledger), Writer::kRemediator, stage_.tick);
}

void Wire::hear_node(const std::string& body) {
  const auto node = kube::parse_node(body);
  if (!node) return;
  const NodeTruth* const before = stage_.truth.node(node->meta.name);
  if (before == nullptr || before->node.meta.resource_version == node->meta.resource_version)
    return;
  invariants_.on_node_written(*before, *node);
  stage_.truth.put_node(*node, Writer::kRemediator, stage_.tick);
  stage_.looks.back()->node = *node;  // the answer has its present state
}

// Reads the present object: an answer may have only its metadata.
void Wire::hear_remediation(const std::string& name) {
  const std::string path = remediation_collection() + "/" + name;
  auto remediation = stage_.kube.has(path) ? read_remediation(stage_.kube.get(path))
                                           : fail(ErrorKind::kNotFound, name);
  const bool is_gone = !remediation && stage_.truth.remediation(name) != nullptr;
  if (is_gone) {
    ++stage_.deletions;
    stage_.deleted[name] = stage_.tick;
    stage_.truth.drop_remediation(name, stage_.kube.revision());
  }
  if (!remediation) return;
  const Remediation* const before = stage_.truth.remediation(remediation->name);
  if (before != nullptr && before->resource_version == remediation->resource_version) return;
  stage_.trace.say(
      "  " + remediation->name + " is " + std::string(to_string(remediation->status.phase)) + ", " +
      remediation->status.rule + ": " + without_job_names(remediation->status.message));
  if (before != nullptr) invariants_.check_was_read(*before);
  invariants_.on_remediation_written(before, *remediation);
  stage_.truth.put_remediation(std::move(*remediation), stage_.tick);
}

Result<http::ClientResponse> Wire::stream(const http::ClientRequest&, milliseconds, std::stop_token,
                                          const std::function<bool(std::string_view)>&) {
  return fail(ErrorKind::kInvalid, "a simulation has no watches");
}

}  // namespace gpuward::remediator::simulation
