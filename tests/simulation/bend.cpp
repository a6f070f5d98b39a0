#include "tests/simulation/bend.h"

#include <algorithm>

#include "core/kube/decode.h"
#include "core/kube/node_announcements.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/decide/budgets/ledger_text.h"
#include "remediator/decide/guards/drills.h"
#include "remediator/model/announced.h"
#include "remediator/model/node_mark.h"
#include "tests/simulation/newcomers.h"
#include "tests/simulation/operands.h"
#include "tests/simulation/pod_ends.h"
#include "tests/simulation/pod_holds.h"
#include "tests/simulation/step_jobs.h"
#include "tests/simulation/torn_jobs.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kNodes = "/api/v1/nodes";

void hide_what_was_undone(Json& node) {
  const auto mark = node["metadata"]["annotations"].find(std::string(kAnnotation));
  if (mark == node["metadata"]["annotations"].end()) return;
  node["spec"]["unschedulable"] = true;
  for (const Json& taint : member_at(node["spec"], "taints")) {
    if (string_at(taint, "key") == kTaintKey) return;
  }
  const Json said = *parse_json(mark->get<std::string>());
  node["spec"]["taints"].push_back({{"key", std::string(kTaintKey)},
                                    {"value", string_at(said, "severity")},
                                    {"effect", std::string(kTaintEffect)}});
}

void hide_identity(const Stage& stage, Json& node) {
  for (const auto& [name, remediation] : stage.truth.remediations()) {
    if (remediation.open() && remediation.node == string_at(node["metadata"], "name")) {
      node["metadata"]["uid"] = remediation.node_uid;
    }
  }
}

// Makes the annotation and taint agree with the open Remediation, as if no operator had edited
// them.
void hide_disagreement(const Stage& stage, Json& node) {
  const auto annotation = node["metadata"]["annotations"].find(std::string(kAnnotation));
  if (annotation == node["metadata"]["annotations"].end()) return;
  auto said = parse_json(annotation->get<std::string>());
  if (!said || !said->is_object()) return;
  for (const auto& [name, remediation] : stage.truth.remediations()) {
    const bool is_its =
        remediation.open() && remediation.node_uid == string_at(node["metadata"], "uid");
    if (!is_its || remediation.status.find(Step::kTaint) == nullptr) continue;
    (*said)["name"] = name;
    (*said)["preExistingCordon"] = remediation.status.pre_existing_cordon.value_or(false);
    *annotation = dump_json(*said);
    if (!member_at(node["spec"], "taints").is_array()) return;
    for (Json& taint : node["spec"]["taints"]) {
      if (string_at(taint, "key") == kTaintKey) taint["value"] = string_at(*said, "severity");
    }
  }
}

// Removes announcements from the Node that the record of the node calls over.
void hide_announcements(const Stage& stage, Json& node) {
  for (const auto& [name, remediation] : stage.truth.remediations()) {
    const bool is_its = remediation.node_uid == string_at(node["metadata"], "uid");
    if (!is_its || !remediation.open()) continue;
    const auto is_announced = [](const AlertEvidence& alert) {
      return announced_kind(alert).has_value();
    };
    const auto stands = [](const AlertEvidence& alert) {
      return announced_kind(alert) && alert.firing();
    };
    if (std::ranges::any_of(remediation.alerts, is_announced) &&
        std::ranges::none_of(remediation.alerts, stands))
      node["metadata"]["annotations"].erase(std::string(kAnnouncementsAnnotation));
  }
}

// Shows the node in the boot in which its reset was decided.
void hide_restart(const Stage& stage, Json& node) {
  for (const auto& [name, remediation] : stage.truth.remediations()) {
    const StepRecord* const reset = remediation.status.find(Step::kGpuReset);
    const bool is_its = remediation.node_uid == string_at(node["metadata"], "uid");
    if (!is_its || reset == nullptr || reset->result != StepResult::kIntended) continue;
    if (const auto boot = reset->facts.find("jobBootID"); boot != reset->facts.end())
      node["status"]["nodeInfo"]["bootID"] = boot->second;
  }
}

void bend_node(const Stage& stage, Json& node) {
  Json& metadata = node["metadata"];
  if (!metadata.contains("annotations")) metadata["annotations"] = Json::object();
  if (stage.is_off(Sabotage::kDisagreement)) hide_disagreement(stage, node);
  if (stage.is_off(Sabotage::kUndoneByHand)) hide_what_was_undone(node);
  if (stage.is_off(Sabotage::kForeignCordon) &&
      !metadata["annotations"].contains(std::string(kAnnotation))) {
    node["spec"].erase("unschedulable");
  }
  if (stage.is_off(Sabotage::kCloudAtWork) && stage.setting.falls_silent) {
    const auto seen = kube::decode_node(node);
    if (seen && !kube::is_ready(*seen))
      metadata["annotations"].erase(std::string(kAnnouncementsAnnotation));
  }
  if (stage.is_off(Sabotage::kAnnouncedOver) || stage.is_off(Sabotage::kAnnouncedEnds))
    hide_announcements(stage, node);
  if (stage.is_off(Sabotage::kExclusion)) metadata["labels"].erase("gpuward.dev/managed");
  if (stage.is_off(Sabotage::kDrillLabel))
    metadata["labels"][std::string(kDrillLabel)] = std::string(kDrillAllowed);
  if (stage.is_off(Sabotage::kOtherRepairers)) {
    metadata["labels"].erase("nvidia.com/mig.config.state");
  }
  if (stage.is_off(Sabotage::kUnknownCondition)) {
    for (Json& condition : node["status"]["conditions"]) {
      if (string_at(condition, "status") == "Unknown") condition["status"] = "False";
    }
  }
  if (stage.is_off(Sabotage::kBoards)) node["status"]["nodeInfo"].erase("systemUUID");
  if (stage.is_off(Sabotage::kNodeIdentity)) hide_identity(stage, node);
  if (stage.is_off(Sabotage::kJobBoot)) hide_restart(stage, node);
  if (stage.is_off(Sabotage::kDrainedNode) && stage.asks_leave)
    metadata["uid"] = stage.truth.remediation(stage.evicts_for)->node_uid;
}

// Only a replica whose own write was answered then knows that a notification is due.
void hide_what_is_untold(Json& remediation) {
  const auto status = remediation.find("status");
  if (status != remediation.end()) (*status)["toldPhase"] = string_at(*status, "phase");
}

void make_young(const Stage& stage, Json& remediation) {
  if (!member_at(member_at(remediation, "status"), "steps").is_array()) return;
  for (Json& step : remediation["status"]["steps"]) {
    if (step["result"] == "running") step["intentAt"] = to_rfc3339_ms(stage.clock.wall());
  }
}

void take_all_for_drills(Json& remediation) {
  if (!member_at(member_at(remediation, "spec"), "alerts").is_array()) return;
  Json& alerts = remediation["spec"]["alerts"];
  if (std::ranges::none_of(alerts, [](const Json& alert) { return alert.contains("drill"); }))
    return;
  for (Json& alert : alerts) alert["drill"] = true;
}

void take_all_steps_for_real(Json& remediation) {
  if (!member_at(member_at(remediation, "status"), "steps").is_array()) return;
  for (Json& step : remediation["status"]["steps"]) step.erase("drill");
}

void bend_calls(const Stage& stage, Json& remediation) {
  if (!member_at(member_at(remediation, "status"), "steps").is_array()) return;
  for (Json& step : remediation["status"]["steps"]) {
    const auto facts = step.find("facts");
    if (facts == step.end() || !facts->contains("call")) continue;
    if (stage.is_off(Sabotage::kAccepted)) facts->erase("call");
    if (stage.is_off(Sabotage::kCalled)) (*facts)["call"] = "accepted";
  }
}

void forget_failed_drains(Json& remediation) {
  if (!member_at(member_at(remediation, "status"), "steps").is_array()) return;
  for (Json& step : remediation["status"]["steps"]) {
    if (step["name"] == "drain" && step["result"] == "failed") step["result"] = "done";
  }
}

void let_all_pass(Json& pods) {
  for (Json& pod : pods["items"]) {
    for (Json& container : pod["status"]["containerStatuses"])
      container["state"]["terminated"]["exitCode"] = 0;
  }
}

void bend_switch(const Stage& stage, Json& config_map) {
  if (stage.is_off(Sabotage::kStop)) config_map["data"]["stop"] = "false";
}

void bend_ledger(const Stage& stage, Json& config_map) {
  if (!config_map.contains("data")) return;
  Json& text = config_map["data"]["ledger"];
  Ledger ledger = *decode_ledger(text.get<std::string>());
  if (stage.is_off(Sabotage::kSlots)) {
    ledger.slots.clear();
    config_map["data"].erase("taints");
  }
  if (stage.is_off(Sabotage::kWindows)) ledger.starts.clear();
  if (stage.is_off(Sabotage::kArrivals)) ledger.arrivals.clear();
  if (stage.is_off(Sabotage::kAttempts)) ledger.attempts.clear();
  if (stage.is_off(Sabotage::kBreaker)) ledger.breaker.open = false;
  text = *encode_ledger(ledger);
}

void bend_remediation(const Stage& stage, Json& remediation) {
  Json& annotations = remediation["metadata"]["annotations"];
  if (annotations.is_null()) annotations = Json::object();
  if (stage.is_off(Sabotage::kPause)) annotations.erase(std::string(kPauseAnnotation));
  if (stage.is_off(Sabotage::kMachineReplaced))
    annotations.erase(std::string(kMachineReplacedAnnotation));
  if (stage.is_off(Sabotage::kCancel)) annotations.erase(std::string(kCancelAnnotation));
  if (stage.is_off(Sabotage::kRecordCordon) && remediation.contains("status"))
    remediation["status"].erase("preExistingCordon");
  if (stage.is_off(Sabotage::kTimeout)) make_young(stage, remediation);
  if (stage.is_off(Sabotage::kDrillAlerts)) take_all_for_drills(remediation);
  if (stage.is_off(Sabotage::kDrillSteps)) take_all_steps_for_real(remediation);
  bend_calls(stage, remediation);
  if (stage.is_off(Sabotage::kDrained)) forget_failed_drains(remediation);
  if (stage.is_off(Sabotage::kCleared) && remediation.contains("status"))
    remediation["status"].erase("cleared");
  if (stage.is_off(Sabotage::kApproval)) {
    const Json& asked = member_at(member_at(remediation, "status"), "approval");
    if (!asked.is_object()) return;
    annotations[std::string(kApproveAnnotation)] = string_at(asked, "token");
    annotations[std::string(kApprovedByAnnotation)] = "nobody";
  }
}

bool drops_version(const Stage& stage, Resource resource) {
  switch (resource) {
    case Resource::kNode:
      return stage.is_off(Sabotage::kNodeVersion);
    case Resource::kRemediation:
      return stage.is_off(Sabotage::kEvidenceVersion);
    case Resource::kStatus:
      return stage.is_off(Sabotage::kStatusVersion);
    case Resource::kLedger:
      return stage.is_off(Sabotage::kLedgerVersion);
    case Resource::kSwitch:
    case Resource::kLease:
    case Resource::kExclusions:
    case Resource::kJob:
    case Resource::kPods:
    case Resource::kOther:
      return false;
  }
  return false;
}

// An answer that hides Nodes, volumes or a deleted list although the cluster has them.
std::optional<http::ClientResponse> hidden(const Stage& stage, const Address& to,
                                           const std::string& url) {
  http::ClientResponse answer;
  if (stage.is_off(Sabotage::kVolumes) && url.contains(kAttachments)) {
    answer.status = 200;
    answer.body = R"({"kind":"VolumeAttachmentList","metadata":{},"items":[]})";
    return answer;
  }
  const bool is_lost = to.resource == Resource::kExclusions && stage.exclusions.is_deleted();
  if (stage.is_off(Sabotage::kLostList) && is_lost) {
    answer.status = 200;
    answer.body = R"({"kind":"ConfigMap","metadata":{"name":"gpuward-exclusions"},"data":{}})";
    return answer;
  }
  if (!stage.is_off(Sabotage::kNodeGone) || to.resource != Resource::kNode) return std::nullopt;
  const bool ends = std::ranges::any_of(stage.truth.remediations(), [&](const auto& known) {
    return known.second.node == to.name && known.second.status.phase == Phase::kTerminating;
  });
  if (!ends) return std::nullopt;
  answer.status = 404;
  answer.body = R"({"kind":"Status","reason":"NotFound"})";
  return answer;
}

// Objects of which there is exactly one. A POST to their collection creates them.
std::optional<Address> address_of_state(const std::string& path, const std::string& body) {
  const std::string ns = "/namespaces/" + kStateNamespace + "/";
  if (path.find(ns) == std::string::npos) return std::nullopt;
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name == kSwitchName) return Address{Resource::kSwitch, name};
  const bool is_made = name == "configmaps" && body.contains(kExclusionMap);
  if (name == kExclusionMap || is_made) return Address{Resource::kExclusions, kExclusionMap};
  if (name == kLedgerName || name == "configmaps") return Address{Resource::kLedger, kLedgerName};
  return Address{Resource::kLease, kLeaseName};
}

}  // namespace

Address address_of(const http::ClientRequest& request) {
  const std::string& url = request.url;
  const auto begin = url.find('/', url.find("://") + 3);
  std::string path = url.substr(begin, url.find('?') - begin);
  if (auto state = address_of_state(path, request.body)) return *std::move(state);
  for (const auto& [prefix, resource] :
       {std::pair{kNodes, Resource::kNode},
        std::pair{remediation_collection(), Resource::kRemediation}}) {
    if (!path.starts_with(prefix)) continue;
    std::string name = path.size() > prefix.size() ? path.substr(prefix.size() + 1) : "";
    const auto slash = name.find('/');
    if (slash == std::string::npos) return {resource, std::move(name)};
    return {Resource::kStatus, name.substr(0, slash)};
  }
  for (const auto& [word, resource] :
       {std::pair{"/jobs", Resource::kJob}, std::pair{"/pods", Resource::kPods}}) {
    if (path.contains(word))
      return {resource, word + 1};  // the object's name differs in every replay
  }
  return {};
}

Policy bent_policy(const Stage& stage, Policy policy) {
  constexpr Share kAny{100'000, 0};
  BudgetLimits& budgets = policy.budgets;
  if (stage.is_off(Sabotage::kCluster)) budgets.cluster.at_once = kAny;
  if (stage.is_off(Sabotage::kPool)) budgets.pool.at_once = kAny;
  for (OwnPool& own : budgets.own_pools) {
    if (stage.is_off(Sabotage::kPool)) own.limits->disrupted.at_once = kAny;
    if (stage.is_off(Sabotage::kCordonCap)) own.limits->cordoned = kAny;
    if (stage.is_off(Sabotage::kMinHealthy)) own.limits->min_healthy = {};
  }
  if (stage.is_off(Sabotage::kZone)) budgets.zone.at_once = kAny;
  if (stage.is_off(Sabotage::kRack)) budgets.labels.clear();
  if (stage.is_off(Sabotage::kTaintCap)) budgets.tainted = kAny;
  if (stage.is_off(Sabotage::kCordonCap)) budgets.cordoned = kAny;
  if (stage.is_off(Sabotage::kEndBudget)) budgets.terminations.clear();
  if (stage.is_off(Sabotage::kStorm)) budgets.storm.share = kAny;
  if (stage.is_off(Sabotage::kMode)) policy.mode = Mode::kFull;
  if (stage.is_off(Sabotage::kPoolMode)) {
    for (PoolPolicy& pool : policy.pools) pool.mode.reset();
  }
  if (stage.is_off(Sabotage::kWindow)) {
    for (MaintenanceWindow& window : policy.windows) window.duration = std::chrono::hours(24);
  }
  if (stage.is_off(Sabotage::kCooldown)) policy.cooldown = {};
  if (stage.is_off(Sabotage::kMinHealthy)) budgets.min_healthy = {};
  if (stage.is_off(Sabotage::kForeignAlerts)) policy.foreign_alerts.clear();
  if (stage.is_off(Sabotage::kReplacement)) {
    for (auto& [severity, plan] : policy.steps) {
      if (replacement_wait(plan) != nullptr) plan.pop_back();
    }
  }
  return policy;
}

http::ClientRequest bent_request(Stage& stage, const Address& to, http::ClientRequest request) {
  if (to.resource == Resource::kJob && request.method == "POST") {
    Json job = *parse_json(request.body);
    bend_job(stage, job);
    request.body = dump_json(job);
    return request;
  }
  if (request.url.ends_with("/eviction") && stage.is_off(Sabotage::kPodIdentity)) {
    Json body = *parse_json(request.body);
    body["deleteOptions"].erase("preconditions");
    request.body = dump_json(body);
    return request;
  }
  if (request.method == "GET" || request.method == "POST" || !drops_version(stage, to.resource))
    return request;
  Json body = *parse_json(request.body);
  // A deletion has no metadata.
  if (const auto metadata = body.find("metadata"); metadata != body.end())
    metadata->erase("resourceVersion");
  request.body = dump_json(body);
  return request;
}

std::optional<http::ClientResponse> swallowed(Stage& stage, const Address& to,
                                              const http::ClientRequest& request) {
  if (request.method == "GET") return hidden(stage, to, request.url);
  if (is_let_go_in_words(stage, request.url) || is_done_in_words(stage, request)) {
    http::ClientResponse answer;
    answer.status = 201;
    answer.body = R"({"kind":"Status","apiVersion":"v1","status":"Success","code":201})";
    return answer;
  }
  const bool is_status = to.resource == Resource::kStatus && request.method == "PUT";
  if (!is_status || !stage.is_off(Sabotage::kIntent)) return std::nullopt;
  const Json status = (*parse_json(request.body))["status"];
  for (const Json& step : status["steps"]) {
    const bool is_of_machine = step["name"] == "reboot" || step["name"] == "terminate";
    if (!is_of_machine || step["result"] != "intended") continue;
    Json object = stage.kube.get(remediation_collection() + "/" + to.name);
    object["status"] = status;
    http::ClientResponse answer;
    answer.status = 200;
    answer.body = dump_json(object);
    return answer;
  }
  return std::nullopt;
}

std::string bent_answer(const Stage& stage, const Address& to, bool to_write, std::string body) {
  if (stage.sabotage == Sabotage::kNone || to.name.empty()) return body;
  auto object = parse_json(body);
  if (!object || !object->is_object() || !object->contains("metadata")) return body;
  if (to.resource == Resource::kNode) {
    bend_node(stage, *object);
  } else if (to.resource == Resource::kPods && stage.is_off(Sabotage::kPairs)) {
    let_all_pass(*object);
  } else if (to.resource == Resource::kPods) {
    bend_pods(stage, *object);
    bend_job_pods(stage, *object);
    bend_pod_ends(stage, *object);
    bend_newcomers(stage, *object);
    bend_operand_pods(stage, *object);
  } else if (to.resource == Resource::kJob && !to_write) {
    bend_torn_job(stage, *object);
  } else if (to.resource == Resource::kSwitch) {
    bend_switch(stage, *object);
  } else if (to.resource == Resource::kLease && !to_write && stage.is_off(Sabotage::kLease)) {
    (*object)["spec"].erase("holderIdentity");
  } else if (to.resource == Resource::kExclusions && stage.is_off(Sabotage::kTimedExclusion)) {
    (*object)["data"] = Json::object();
  } else if (to.resource == Resource::kLedger) {
    bend_ledger(stage, *object);
  } else if (to.resource == Resource::kRemediation || to.resource == Resource::kStatus) {
    bend_remediation(stage, *object);
    if (stage.is_off(Sabotage::kToldAgain) && !to_write) hide_what_is_untold(*object);
  }
  return dump_json(*object);
}

}  // namespace gpuward::remediator::simulation
