#include "tests/simulation/humans.h"

#include "remediator/cluster/remediation_json.h"
#include "remediator/model/evidence.h"
#include "remediator/model/history_alerts.h"
#include "remediator/model/node_mark.h"
#include "tests/simulation/care.h"
#include "tests/simulation/step_jobs.h"
#include "tests/simulation/torn_jobs.h"

namespace gpuward::remediator::simulation {
namespace {

Json unschedulable(bool is_cordoned) {
  return {{"spec", {{"unschedulable", is_cordoned ? Json(true) : Json(nullptr)}}}};
}

}  // namespace

void Humans::do_something() {
  switch (stage_.chance.weighted({40, 50, 5, 5, 5})) {
    case 0:
      return touch_node();
    case 1:
      return touch_remediation();
    case 2:
      stage_.turn_switch(!stage_.stopped_at);
      return stage_.trace.say(stage_.stopped_at ? "human: stop" : "human: go on");
    case 3:
      if (!stage_.truth.ledger().breaker.open) return;
      stage_.close_breaker();
      return stage_.trace.say("human: close the breaker");
    default: {
      Policy policy = draw_policy(stage_.chance);
      keep_what_stays(policy, stage_.setting);
      if (stage_.setting.has_jobs) put_jobs(policy, stage_.jobs_chance);
      put_care(policy, stage_.setting, stage_.care_chance);
      if (stage_.setting.tears_jobs) put_restarts(policy);
      stage_.set_policy(std::move(policy));
      return stage_.trace.say("human: another policy");
    }
  }
}

void Humans::touch_node() {
  if (stage_.truth.nodes().empty()) return;
  auto at = stage_.truth.nodes().begin();
  std::advance(at, stage_.chance.between(0, static_cast<int>(stage_.truth.nodes().size()) - 1));
  const kube::Node node = at->second.node;
  const std::string& name = node.meta.name;
  switch (stage_.chance.weighted({35, 25, 20, 20})) {
    case 0:
      stage_.patch_node(name, unschedulable(true));
      return stage_.trace.say("human: cordon " + name);
    case 1:
      stage_.patch_node(name, unschedulable(false));
      return stage_.trace.say("human: uncordon " + name);
    case 2:
      return untaint(node);
    default: {
      const Json value = stage_.chance.happens(0.4) ? Json("false") : Json(nullptr);
      stage_.patch_node(name, {{"metadata", {{"labels", {{"gpuward.dev/managed", value}}}}}});
      return stage_.trace.say("human: managed=" + value.dump() + " " + name);
    }
  }
}

void Humans::untaint(const kube::Node& node) {
  Json taints = Json::array();
  for (const kube::Taint& taint : node.taints) {
    if (taint.key == kTaintKey || taint.key == "human") continue;
    taints.push_back({{"key", taint.key}, {"value", taint.value}, {"effect", taint.effect}});
  }
  if (stage_.chance.happens(0.3)) {
    taints.push_back({{"key", "human"}, {"value", "x"}, {"effect", "PreferNoSchedule"}});
  }
  stage_.patch_node(node.meta.name, {{"spec", {{"taints", taints}}}});
  stage_.trace.say("human: untaint " + node.meta.name);
}

// Says it for a Remediation that exists only for the history of its machine.
void Humans::say_replaced() {
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (!remediation.open() || !rests_on_history(remediation)) continue;
    if (!stage_.identity_chance.happens(0.3)) continue;
    stage_.trace.say("human: the machine of " + name + " was replaced");
    return stage_.annotate_remediation(name, {{std::string(kMachineReplacedAnnotation), "true"}});
  }
}

// An operator has checked every such machine that is left.
bool Humans::say_all_replaced() {
  if (!stage_.identity_chance.happens(0.5)) return false;
  std::vector<std::string> left;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (remediation.open() && rests_on_history(remediation)) left.push_back(name);
  }
  for (const std::string& name : left) {
    stage_.trace.say("human: the machine of " + name + " was replaced");
    stage_.annotate_remediation(name, {{std::string(kMachineReplacedAnnotation), "true"}});
  }
  return !left.empty();
}

void Humans::touch_remediation() {
  if (stage_.setting.registers_anew) say_replaced();
  std::vector<std::string> open, asking;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    if (!remediation.open()) continue;
    open.push_back(name);
    if (remediation.status.approval) asking.push_back(name);
  }
  if (!asking.empty() && stage_.chance.happens(0.6)) {
    return approve(*stage_.truth.remediation(stage_.chance.pick(asking)));
  }
  if (open.empty()) return;
  const Remediation remediation = *stage_.truth.remediation(stage_.chance.pick(open));
  switch (stage_.chance.weighted({25, 20, 15, 15})) {
    case 0:
      stage_.annotate_remediation(remediation.name, {{std::string(kPauseAnnotation), "true"}});
      return stage_.trace.say("human: pause " + remediation.name);
    case 1:
      stage_.annotate_remediation(remediation.name, {{std::string(kPauseAnnotation), nullptr}});
      return stage_.trace.say("human: unpause " + remediation.name);
    case 2:
      stage_.annotate_remediation(remediation.name, {{std::string(kCancelAnnotation), "true"}});
      return stage_.trace.say("human: cancel " + remediation.name);
    default:
      return silence(remediation);
  }
}

// Silences all alerts of the node, or ends the silence of all.
void Humans::silence(const Remediation& remediation) {
  const bool begins = stage_.chance.happens(0.7);
  for (const AlertEvidence& alert : remediation.alerts) {
    const std::string fingerprint(without_origin(alert.fingerprint));
    if (begins) {
      stage_.silenced.try_emplace(fingerprint, ++stage_.tick);
    } else {
      stage_.silenced.erase(fingerprint);
    }
  }
  stage_.trace.say(std::string("human: ") + (begins ? "silence " : "unsilence ") +
                   remediation.name);
}

// Takes a copy, because the truth changes during the call.
void Humans::approve(Remediation remediation) {
  const auto& asked = remediation.status.approval;
  if (!asked) return;
  const bool is_meant = stage_.chance.happens(0.8);
  const std::string token = is_meant ? asked->token : "0123456789";
  if (is_meant) {
    Yes& yes = yeses_[token];
    yes = {.remediation = remediation.name,
           .node_uid = remediation.node_uid,
           .step = asked->step,
           .fingerprints = {}};
    for (const AlertEvidence& alert : remediation.alerts)
      yes.fingerprints.insert(alert.fingerprint);
  }
  stage_.annotate_remediation(remediation.name, {{std::string(kApproveAnnotation), token},
                                                 {std::string(kApprovedByAnnotation), "alice"}});
  stage_.trace.say("human: approve " + remediation.name + " " + token);
}

}  // namespace gpuward::remediator::simulation
