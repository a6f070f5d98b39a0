#include "tests/simulation/stage.h"

#include "core/kube/decode.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/ledger_text.h"
#include "tests/fakes/remediation_definition.h"
#include "tests/simulation/absences.h"
#include "tests/simulation/announcements.h"
#include "tests/simulation/bend.h"
#include "tests/simulation/care.h"
#include "tests/simulation/drills.h"
#include "tests/simulation/newcomers.h"
#include "tests/simulation/operands.h"
#include "tests/simulation/pod_ends.h"
#include "tests/simulation/silent_nodes.h"
#include "tests/simulation/step_jobs.h"
#include "tests/simulation/taint_rules.h"
#include "tests/simulation/torn_jobs.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kNodes = "/api/v1/nodes/";

// The recorded writes do not include the Jobs of a test and the pods of a drain.
Setting setting_of(Chance& chance, Chance& pairs_chance, Chance& pods_chance, Chance& taints_chance,
                   Chance& places_chance, Chance& jobs_chance, Chance& care_chance,
                   Chance& torn_chance, Chance& silent_chance, Chance& announced_chance,
                   Chance& absences_chance, Size size, Keeps keeps) {
  Setting setting = draw_setting(chance, size);
  if (keeps == Keeps::kNothing) {
    let_pairs_be_tested(setting, pairs_chance);
    let_pods_be_drained(setting, pods_chance);
    let_steps_be_jobs(setting, jobs_chance);
  }
  limit_taints(setting, taints_chance);
  if (keeps == Keeps::kNothing) {
    let_places_speak(setting, places_chance);
    if (size == Size::kAny) let_people_take_care(setting, care_chance);
    if (size == Size::kAny) let_jobs_be_torn(setting, torn_chance);
    if (size == Size::kAny) let_nodes_fall_silent(setting, silent_chance);
    if (size == Size::kAny) let_clouds_announce(setting, announced_chance);
    if (size == Size::kAny) let_time_pass(setting, absences_chance);
  }
  return setting;
}

kube::Node node_in(const Json& json) { return *kube::parse_node(dump_json(json)); }

}  // namespace

Stage::Stage(std::uint64_t seed, Size size, Sabotage switched_off, Keeps keeps)
    : chance(seed),
      pairs_chance(seed + 0x70616972),
      pods_chance(seed + 0x706f6473),
      watch_chance(seed + 0x77617463),
      late_chance(seed + 0x6c617465),
      edits_chance(seed + 0x65646974),
      taints_chance(seed + 0x7461696e),
      cloud_chance(seed + 0x636c6f75),
      identity_chance(seed + 0x6964656e),
      holds_chance(seed + 0x686f6c64),
      informer_chance(seed + 0x696e666f),
      lead_chance(seed + 0x6c656164),
      places_chance(seed + 0x706c6163),
      jobs_chance(seed + 0x6a6f6273),
      ends_chance(seed + 0x656e6473),
      care_chance(seed + 0x63617265),
      sinks_chance(seed + 0x73696e6b),
      kept_chance(seed + 0x6b657074),
      torn_chance(seed + 0x746f726e),
      silent_chance(seed + 0x73696c65),
      announced_chance(seed + 0x616e6e6f),
      // with this seed no seed of bites_test has drills
      drills_chance(seed + 0x6478b601),
      newcomers_chance(seed + 0x6e657763),
      absences_chance(seed + 0x61627365),
      races_chance(seed + 0x72616365),
      operands_chance(seed + 0x6f706572),
      restarts_chance(seed + 0x72657374),
      setting(setting_of(chance, pairs_chance, pods_chance, taints_chance, places_chance,
                         jobs_chance, care_chance, torn_chance, silent_chance, announced_chance,
                         absences_chance, size, keeps)),
      sabotage(switched_off),
      meant(setting.policy),
      policy(bent_policy(*this, setting.policy)),
      keeps_writes(keeps == Keeps::kWrites) {
  let_watches_die(setting, watch_chance);
  let_pods_be_held(setting, holds_chance);
  let_pods_stay(setting, ends_chance);
  let_pods_come_back(setting, newcomers_chance);
  let_watches_fail(setting, informer_chance);
  let_others_race(setting, races_chance);
  let_operands_run(setting, operands_chance);
  let_restarts_be_jobs(setting, restarts_chance);
  if (setting.restarts_by_job) set_policy(setting.policy);
  setting.says_late = size == Size::kAny && late_chance.happens(0.3);
  if (setting.places.webhook_loss == 1 && !setting.places.polls) setting.says_late = false;
  setting.has_edits = keeps == Keeps::kNothing && edits_chance.happens(0.25);
  if (keeps == Keeps::kNothing && size == Size::kAny) let_drills_run(setting, drills_chance);
  setting.registers_anew = identity_chance.happens(0.3);
  setting.keeps_alerts = kept_chance.happens(0.3) && size == Size::kAny;
  setting.has_forgers = identity_chance.happens(0.3) && size == Size::kAny;
  kube.create(kDefinitions, remediation_definition());
  kube.create("/api/v1/namespaces", {{"metadata", {{"name", kStateNamespace}}}});
  kube.create("/api/v1/namespaces", {{"metadata", {{"name", kJobNamespace}}}});
  kube.create("/api/v1/namespaces", {{"metadata", {{"name", "gpu-operator"}}}});
  create(kConfigMaps, {{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", {{"name", kSwitchName}}},
                       {"data", {{"stop", "false"}}}});
}

void Stage::keep(Written write) {
  if (keeps_writes) writes.push_back(std::move(write));
}

Json Stage::create(const std::string& collection, const Json& object) {
  Json answer = kube.create(collection, object);
  keep({"POST", collection, object, 201, answer});
  return answer;
}

Json Stage::patch(const std::string& path, const Json& patch) {
  Json answer = kube.patch(path, patch);
  keep({"PATCH", path, patch, 200, answer});
  return answer;
}

void Stage::create_node(const Json& node) {
  kube::Node made = node_in(create("/api/v1/nodes", node));
  pods.note_node(made.meta.name, made.meta.uid);
  truth.put_node(std::move(made), Writer::kOthers, ++tick);
}

void Stage::patch_node(const std::string& name, const Json& patch) {
  truth.put_node(node_in(this->patch(kNodes + name, patch)), Writer::kOthers, ++tick);
}

void Stage::patch_node_status(const std::string& name, const Json& patch) {
  truth.put_node(node_in(this->patch(kNodes + name + "/status", patch)), Writer::kOthers, ++tick);
}

void Stage::remove(const std::string& path) {
  kube.remove(path);
  keep({"DELETE", path, nullptr, 200, nullptr});
  ++tick;
}

void Stage::remove_node(const std::string& name) {
  remove(kNodes + name);
  pods.note_node_gone(truth.node(name)->node.meta.uid, tick);
  truth.drop_node(name, kube.revision());
}

void Stage::attach(const Json& volume) {
  create(kAttachments, volume);
  volumes[string_at(volume["spec"], "nodeName")][string_at(volume["metadata"], "name")] = ++tick;
}

void Stage::detach_all(const std::string& node) {
  for (const auto& [name, since] : volumes[node]) remove(kAttachments + "/" + name);
  volumes.erase(node);
}

void Stage::set_policy(Policy next) {
  policy.set(bent_policy(*this, next));
  meant.set(std::move(next));
}

// A switch with an unclear value stops too.
void Stage::turn_switch(bool stops) {
  const std::string text = stops ? chance.one_of({"true", "tru", ""}) : "false";
  patch(kConfigMaps + "/" + kSwitchName, {{"data", {{"stop", text}}}});
  stopped_at = stops ? std::optional(++tick) : std::nullopt;
}

void Stage::close_breaker() {
  const Ledger closed = *remediator::close_breaker(truth.ledger(), "alice", clock.wall());
  patch(kConfigMaps + "/" + kLedgerName, {{"data", {{"ledger", *encode_ledger(closed)}}}});
  truth.put_ledger(closed, Writer::kOthers, ++tick);
}

void Stage::forget_ledger() {
  if (!kube.has(kConfigMaps + "/" + kLedgerName)) return;
  patch(kConfigMaps + "/" + kLedgerName,
        {{"data", {{"ledger", *encode_ledger({})}, {"taints", nullptr}}}});
}

void Stage::annotate_remediation(const std::string& name, const Json& annotations) {
  const Json now =
      patch(remediation_collection() + "/" + name, {{"metadata", {{"annotations", annotations}}}});
  truth.put_remediation(*parse_remediation(dump_json(now)), ++tick);
}

void Stage::patch_status(const std::string& remediation, const Json& status) {
  const Json now =
      kube.patch_status(remediation_collection() + "/" + remediation, {{"status", status}});
  truth.put_remediation(*parse_remediation(dump_json(now)), ++tick);
}

void Stage::delete_remediation(const std::string& name, bool by_force) {
  const std::string path = remediation_collection() + "/" + name;
  if (by_force) patch(path, {{"metadata", {{"finalizers", nullptr}}}});
  if (kube.has(path)) remove(path);
  if (!kube.has(path)) {
    deleted[name] = ++tick;
    return truth.drop_remediation(name, kube.revision());
  }
  truth.put_remediation(*parse_remediation(dump_json(kube.get(path))), ++tick);
}

}  // namespace gpuward::remediator::simulation
