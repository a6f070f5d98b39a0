#include "tests/simulation/restores.h"

#include <map>
#include <set>
#include <string>

#include "core/runtime/text.h"
#include "remediator/cluster/exclusion_store.h"
#include "tests/simulation/care.h"

namespace gpuward::remediator::simulation {
namespace {

const std::string kState = kConfigMaps + "/";
const std::string kLease =
    "/apis/coordination.k8s.io/v1/namespaces/" + kStateNamespace + "/leases/" + kLeaseName;

// The amount that the documentation of etcd gives.
constexpr Version kRaise = 1'000'000'000;
// Writes of others between a backup and its restore: far more than happen before a watch
// reconnects.
constexpr Version kOthersWrite = 10'000;
// An operator stops the API server before a restore.
constexpr std::chrono::seconds kServerIsDown{40};

std::set<std::string> names_in(const Json& list) {
  std::set<std::string> names;
  for (const Json& item : list["items"]) names.insert(string_at(item["metadata"], "name"));
  return names;
}

}  // namespace

Restores::Restores(Stage& stage, Fleet& fleet, Invariants& invariants, std::uint64_t seed)
    : stage_(stage), fleet_(fleet), invariants_(invariants), chance_(seed) {
  const Setting& setting = stage_.setting;
  is_on_ = chance_.happens(0.2) && setting.nodes <= 16 && !stage_.keeps_writes &&
           !setting.tests_pairs && !setting.has_edits && !setting.has_jobs;
}

bool Restores::do_something(Version heard) {
  if (!is_on_ || stage_.is_quiet) return false;
  if (!backup_ || chance_.happens(0.02)) {
    if (chance_.happens(0.1)) back_up();
    return false;
  }
  const bool forgets_calls = invariants_.restore().calls() > backup_->calls;
  if (!chance_.happens(forgets_calls ? 0.1 : 0.01)) return false;
  restore(heard > backup_->kube.revision);
  return true;
}

// Returns 0 if no replica has counted yet.
std::uint64_t Restores::writes_of_ledger() {
  if (!stage_.kube.has(kState + kLedgerName)) return 0;
  const Json map = stage_.kube.get(kState + kLedgerName);
  return parse_integer<std::uint64_t>(string_at(map["data"], "writes")).value_or(0);
}

// A backup without a ledger is one of a fresh install.
void Restores::back_up() {
  if (writes_of_ledger() == 0 && !chance_.happens(0.1)) return;
  stage_.trace.say("etcd is backed up");
  backup_.emplace(Backup{stage_.kube.backup(), stage_.truth, stage_.pods,
                         invariants_.restore().calls(), writes_of_ledger()});
  stage_.kube.restore(backup_->kube, backup_->kube.revision + kOthersWrite);
}

void Restores::restore(bool all_heard_more) {
  is_on_ = false;
  stage_.clock.advance(kServerIsDown);
  const bool raises = chance_.happens(0.4);
  const Version version = raises ? stage_.kube.revision() + kRaise : backup_->kube.revision;
  stage_.trace.say(std::string("etcd is restored, ") +
                   (raises ? "with raised versions" : "and its versions go back"));
  std::map<std::string, std::string> uids;
  for (const auto& [name, node] : stage_.truth.nodes()) uids.emplace(name, node.node.meta.uid);
  const Json volumes = stage_.kube.get(kAttachments);
  invariants_.on_restored(
      {.calls = backup_->calls, .writes = backup_->writes, .goes_back = !raises && all_heard_more});
  go_back(version);
  fleet_.correct_nodes(uids);
  attach_as_before(volumes);
}

void Restores::go_back(Version version) {
  stage_.kube.restore(backup_->kube, version);
  ++stage_.tick;
  ++stage_.restores;
  stage_.truth.go_back_to(backup_->truth, version, stage_.tick);
  stage_.pods.go_back_to(backup_->pods);
  stage_.holder = stage_.kube.has(kLease)
                      ? string_at(stage_.kube.get(kLease)["spec"], "holderIdentity")
                      : std::string();
  const bool stops = string_at(stage_.kube.get(kState + kSwitchName)["data"], "stop") != "false";
  if (stage_.kube.has(kState + kExclusionMap)) {
    const auto list = exclusions_in(stage_.kube.get(kState + kExclusionMap));
    stage_.exclusions.go_back_to(&list, stage_.say_now());
  } else {
    stage_.exclusions.go_back_to(nullptr, stage_.say_now());
  }
  stage_.stopped_at = stops ? std::optional(stage_.tick) : std::nullopt;
}

// The controller of attachments knows the attached volumes.
void Restores::attach_as_before(const Json& volumes) {
  const auto there = names_in(stage_.kube.get(kAttachments)), right = names_in(volumes);
  for (const std::string& name : there) {
    if (!right.contains(name)) stage_.kube.remove(kAttachments + "/" + name);
  }
  for (const Json& volume : volumes["items"]) {
    const std::string name = string_at(volume["metadata"], "name");
    if (there.contains(name)) continue;
    Json anew = volume;
    anew["metadata"] = {{"name", name}};
    stage_.kube.create(kAttachments, anew);
  }
}

void Fleet::correct_nodes(const std::map<std::string, std::string>& uids) {
  std::vector<std::string> past;
  for (const auto& [name, node] : stage_.truth.nodes()) {
    const auto now = uids.find(name);
    if (now == uids.end() || now->second != node.node.meta.uid) past.push_back(name);
  }
  for (const std::string& name : past) stage_.remove_node(name);
  for (Machine& machine : machines_) {
    if (!machine.exists) continue;
    if (stage_.truth.node(machine.name) == nullptr) write_node(machine);
    write_status(machine);
  }
}

}  // namespace gpuward::remediator::simulation
