#include "tests/simulation/silent_nodes.h"

#include <algorithm>

#include "core/kube/node_announcements.h"
#include "remediator/model/out_of_service.h"
#include "remediator/model/silent_alerts.h"
#include "tests/simulation/identity_rules.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Requests may take long, and processes may stall, between the proofs and the call.
constexpr seconds kProofOnTheWay{90};
// How often a kubelet renews its Lease.
constexpr seconds kRenewedEvery{10};
// Time until Kubernetes sets the condition Ready to Unknown, and the longer one if its controller
// is down too.
constexpr seconds kUnknownAfter{50};
constexpr minutes kUnknownLate{20};

bool is_taken_down_by(const CloudEvent& event) { return event.takes_down && event.is_begun(); }

// Whether the cloud is at work on it, and its Node has shown that for a while, by a clock without
// jumps.
bool is_cloud_known_at_work(const Stage& stage, const Machine& machine) {
  const NodeTruth* const truth = stage.truth.node(machine.name);
  if (truth == nullptr || stage.jumped.count() != 0 || !machine.silence.is_by_cloud) return false;
  const auto said = node_announcements_of(truth->node);
  return std::ranges::any_of(machine.cloud.events, [&](const CloudEvent& event) {
    if (!is_taken_down_by(event) || stage.clock.steady() - event.begins < kProofOnTheWay)
      return false;
    return std::ranges::any_of(said, [&](const NodeAnnouncement& one) {
      return one.announced.id == event.id && one.boot_id == truth->node.boot_id &&
             one.announced.start == event.start;
    });
  });
}

// Whether it was down a moment ago.
bool was_down(const Stage& stage, const Machine& machine) {
  const auto& until = machine.silence.down_until;
  return machine.is_restarting || (until && stage.clock.steady() - *until < kProofOnTheWay);
}

}  // namespace

void let_nodes_fall_silent(Setting& setting, Chance& chance) {
  if (setting.tests_pairs || setting.nodes > 16 || setting.wears_out || !chance.happens(0.25))
    return;
  setting.falls_silent = true;
  setting.nodes = std::max(setting.nodes, chance.between(2, 8));
  setting.events += 60;
  Policy& policy = setting.policy;
  policy.mode = Mode::kFull;
  policy.machines.reboot = {"/bin/power-cycle"};
  policy.silent.is_on = true;
  policy.silent.after = chance.one_of({minutes(1), minutes(2), minutes(5)});
  policy.silent.at_most = {chance.between(1, 3), 0};
  policy.silent.reboots = chance.happens(0.9);
  policy.silent.terminates = chance.happens(0.6);
  policy.silent.moves_pods = chance.happens(0.7);
  // Otherwise the other faults leave little room.
  if (chance.happens(0.3)) return;
  const Share all{setting.nodes, 0};
  BudgetLimits& budgets = policy.budgets;
  budgets.cluster = budgets.pool = budgets.zone = {.at_once = all};
  budgets.labels.front().limit.at_once = budgets.cordoned = all;
  budgets.breaker.share = budgets.storm.share = {100'000, 0};
}

SilentNodes::SilentNodes(Stage& stage, Fleet& fleet) : stage_(stage), fleet_(fleet) {
  stage.node_leases = [this](std::string_view node) { return leases(node); };
}

std::optional<Json> SilentNodes::lease_of(const Machine& machine, bool is_listed) const {
  if (!machine.exists || !machine.works() || machine.is_restarting) return std::nullopt;
  const auto age = stage_.silent_chance.span(seconds(0), kRenewedEvery);
  const bool is_bent = stage_.is_off(Sabotage::kPartition) || stage_.is_off(Sabotage::kLeases);
  const bool is_renewed = !machine.silence.renewed || (is_listed && is_bent);
  const WallTime at = is_renewed ? stage_.true_time() - age : *machine.silence.renewed;
  return Json{
      {"metadata", {{"name", machine.name}, {"uid", machine.name}, {"resourceVersion", "1"}}},
      {"spec", {{"renewTime", to_rfc3339_ms(at)}}}};
}

http::ClientResponse SilentNodes::leases(std::string_view node) const {
  Json items = Json::array();
  for (const Machine& machine : fleet_.machines()) {
    const auto lease = lease_of(machine, node.empty());
    if (lease && (node.empty() || node == machine.name)) items.push_back(*lease);
  }
  http::ClientResponse answer;
  answer.status = 200;
  if (node.empty()) {
    answer.body = dump_json({{"metadata", {{"resourceVersion", "1"}}}, {"items", items}});
  } else if (!items.empty()) {
    answer.body = dump_json(items.front());
  } else {
    answer.status = 404;
    answer.body = R"({"kind":"Status","reason":"NotFound"})";
  }
  return answer;
}

void SilentNodes::tell_unknown(Clock::Steady until) {
  for (Machine& machine : fleet_.machines()) {
    auto& at = machine.silence.unknown_at;
    if (!at || *at > until) continue;
    at.reset();
    if (machine.exists) fleet_.say_ready(machine);
  }
}

void SilentNodes::do_something() {
  Chance& chance = stage_.silent_chance;
  tell_unknown(stage_.clock.steady());
  follow_clouds();
  if (!stage_.setting.falls_silent || !chance.happens(0.2)) return;
  switch (chance.weighted({55, 25, 20})) {
    case 0:
      return die();
    case 1:
      return cut_off_zone({30, 20, 50});
    default:
      return come_back();
  }
}

// Clouds take machines down while they are at work on them, and bring them back.
void SilentNodes::follow_clouds() {
  if (!stage_.setting.falls_silent) return;
  for (Machine& machine : fleet_.machines()) {
    if (!machine.works() || machine.is_restarting) continue;
    const bool is_at_work = std::ranges::any_of(machine.cloud.events, is_taken_down_by);
    SilentState silence;
    silence.is_cut_off = silence.is_down = silence.is_impaired = silence.is_by_cloud = true;
    silence.has_power = false;
    if (is_at_work && !machine.silence.is_down) fall(machine, silence);
    if (!is_at_work && machine.silence.is_by_cloud) come_back(machine);
  }
}

void SilentNodes::fall(Machine& machine, const SilentState& silence) {
  auto renewed = machine.silence.renewed;
  machine.silence = silence;
  if (silence.is_cut_off) machine.silence.renewed = renewed.value_or(stage_.true_time());
  if (machine.exists) fleet_.say_ready(machine);
  stage_.trace.say(machine.name + " falls silent: " + (silence.is_down ? "down" : "cut off"));
}

// One machine or its kubelet dies.
void SilentNodes::die() {
  Chance& chance = stage_.silent_chance;
  Machine& machine = chance.pick(fleet_.machines());
  if (!machine.works() || machine.is_restarting || machine.silence.is_down) return;
  SilentState silence;
  silence.is_cut_off = true;
  switch (chance.weighted({35, 25, 20, 20})) {
    case 0:  // without power
      silence.is_down = silence.is_impaired = true;
      silence.has_power = false;
      break;
    case 1:  // the kernel hangs
      silence.is_down = true;
      silence.is_impaired = chance.happens(0.7);
      silence.is_seen_on = chance.happens(0.5);
      break;
    case 2:  // only its kubelet
      break;
    default:  // Prometheus does not read it either
      silence.is_unread = true;
  }
  fall(machine, silence);
}

// Cuts a zone, or all zones, off from the API server, from Prometheus, or from both and the power
// controllers.
void SilentNodes::cut_off_zone(const std::vector<int>& weights) {
  Chance& chance = stage_.silent_chance;
  const bool is_all = chance.happens(0.4);
  const std::string zone = "zone-" + std::to_string(chance.between(0, 2));
  const std::size_t how = chance.weighted(weights);
  const bool is_impaired = chance.happens(0.6);  // the cloud's checks use the same network
  const bool is_told_late = chance.happens(0.3);
  const Clock::Steady since = stage_.clock.steady();
  for (Machine& machine : fleet_.machines()) {
    const bool is_in = is_all || stage_.truth.place(machine.name).zone == zone;
    if (!is_in || !machine.works() || machine.silence.is_down || machine.is_restarting) continue;
    SilentState silence = machine.silence;
    if (!silence.is_cut_off && how != 1)
      silence.unknown_at =
          since + chance.span(seconds(0), is_told_late ? seconds(kUnknownLate) : kUnknownAfter);
    silence.is_cut_off = silence.is_cut_off || how != 1;
    silence.is_unread = silence.is_unread || how != 0;
    if (how == 2) silence.cut_since = since;
    if (how == 2) silence.is_impaired = is_impaired;
    fall(machine, silence);
  }
}

void SilentNodes::come_back() {
  for (Machine& machine : fleet_.machines()) {
    const bool is_silent = machine.silence.is_cut_off || machine.silence.is_unread;
    if (!machine.works() || !is_silent || !stage_.silent_chance.happens(0.6)) continue;
    if (machine.silence.is_down && stage_.silent_chance.happens(0.7)) continue;
    come_back(machine);
  }
}

void SilentNodes::come_back(Machine& machine) {
  const bool was_down = machine.silence.is_down;
  machine.silence = {};
  machine.silence.down_until = stage_.clock.steady();
  if (was_down && machine.exists) {
    fleet_.boot_again(machine);
  } else if (machine.exists) {
    fleet_.say_ready(machine);
  }
  stage_.trace.say(machine.name + " is heard again");
}

void SilentNodes::heal() {
  for (Machine& machine : fleet_.machines()) {
    if (machine.silence.is_down) continue;
    const bool was_silent = machine.silence.is_cut_off || machine.silence.is_unread;
    machine.silence = {};
    if (was_silent && machine.works()) fleet_.say_ready(machine);
  }
}

void SilentNodes::settle() {
  Chance& chance = stage_.silent_chance;
  heal();
  tell_unknown(Clock::Steady::max());
  if (!stage_.setting.falls_silent) return;
  if (chance.happens(0.6)) {
    for (Machine& machine : fleet_.machines()) {
      if (machine.silence.is_down && machine.works()) come_back(machine);
    }
    if (chance.happens(0.6)) die();
  }
  if (!chance.happens(0.5)) return;
  cuts_ = stage_.clock.steady() + chance.span(seconds(0), minutes(10));
  heals_ = *cuts_ + chance.span(minutes(10), minutes(40));
}

bool SilentNodes::go_on() {
  const Clock::Steady now = stage_.clock.steady();
  tell_unknown(now);
  follow_clouds();
  if (cuts_ && *cuts_ <= now) {
    cuts_.reset();
    cut_off_zone({10, 5, 85});
  }
  if (!heals_ || *heals_ > now) return false;
  heals_.reset();
  stage_.trace.say("the partition heals");
  heal();
  return true;
}

std::optional<Clock::Steady> SilentNodes::next() const {
  auto next = cuts_ ? cuts_ : heals_;
  for (const Machine& machine : fleet_.machines()) {
    const auto& at = machine.silence.unknown_at;
    if (at) next = std::min(next.value_or(*at), *at);
  }
  return next;
}

Result<NodeScrapes> SilentNodes::of(std::string_view node, std::string_view) {
  if (!stage_.is_quiet && stage_.silent_chance.happens(stage_.setting.fault))
    return fail(ErrorKind::kTimeout, "Prometheus does not answer");
  const auto is_read = [](const Machine& machine) {
    return machine.works() && !machine.is_restarting && !machine.silence.is_down &&
           !machine.silence.is_unread;
  };
  NodeScrapes scrapes;
  for (const Machine& machine : fleet_.machines()) {
    if (!machine.exists) continue;
    ++(is_read(machine) ? scrapes.fleet_up : scrapes.fleet_down);
    if (machine.name != node) continue;
    scrapes.exporter = is_read(machine);
    ++(is_read(machine) ? scrapes.others_up : scrapes.others_down);
    scrapes.at = stage_.true_time() - stage_.silent_chance.span(seconds(0), seconds(15));
  }
  return scrapes;
}

// Whether the cut still affects many machines: the BMC of a single machine is reached by another
// path.
bool SilentNodes::is_cut_together(const Machine& machine) const {
  if (!machine.silence.cut_since) return false;
  // The policy allows this many machines to be silent independently, and leaves new nodes out.
  const auto is_counted = [&](const Machine& other) {
    const NodeTruth* const truth = stage_.truth.node(other.name);
    const auto created = truth != nullptr ? truth->node.meta.created : std::nullopt;
    return created && stage_.true_time() - *created > 2 * stage_.setting.policy.startup_grace;
  };
  return std::ranges::count_if(fleet_.machines(), [&](const Machine& other) {
           return is_counted(other) && other.works() && !other.is_restarting &&
                  !other.silence.is_down && other.silence.cut_since == machine.silence.cut_since;
         }) > stage_.setting.policy.silent.at_most.nodes;
}

MachineProofs SilentNodes::proofs(const remediator::Machine& order) {
  const Machine* const machine = fleet_.find_instance(order.provider_id);
  if (!stage_.setting.falls_silent || machine == nullptr) return {};
  const bool is_cut = is_cut_together(*machine);
  const auto now = stage_.true_time();
  MachineProof cloud{ProofKind::kCloud, ProofSign::kUp, now, "as the cloud says", false};
  if (stage_.silent_chance.happens(stage_.setting.fault)) {
    cloud.sign = ProofSign::kUnknown;
  } else if (is_cut || machine->silence.is_down) {
    cloud.sign = machine->silence.is_impaired ? ProofSign::kDown : ProofSign::kUnknown;
    cloud.is_off = machine->silence.is_down && !machine->silence.has_power;
  }
  MachineProof power{ProofKind::kPower, ProofSign::kUp, now, "as the BMC says", false};
  if (!machine->silence.has_power || is_cut) {
    power.sign = ProofSign::kDown;
    power.is_off = !machine->silence.has_power && !is_cut;  // otherwise the BMC does not answer
  } else if (!machine->silence.is_seen_on) {
    power.sign = ProofSign::kUnknown;
  }
  return {cloud, power};
}

bool SilentNodes::is_silent(std::string_view node) const {
  const Machine* const machine = fleet_.find(node);
  return machine != nullptr && machine->works() && machine->silence.is_cut_off;
}

void SilentNodes::check_off() {
  if (!stage_.setting.falls_silent) return;
  for (const Machine& machine : fleet_.machines()) {
    const NodeTruth* const truth = stage_.truth.node(machine.name);
    if (truth == nullptr || !has_our_out_of_service_taint(truth->node)) {
      out_of_service_.erase(machine.name);
      continue;
    }
    if (!out_of_service_.insert(machine.name).second) continue;
    const SilentState& silence = machine.silence;
    const bool is_off = (silence.is_down && !silence.has_power) || !machine.works();
    require(is_off || was_down(stage_, machine), "out-of-service",
            machine.name + " is out of service, and its machine may run");
  }
}

void SilentNodes::check_rest(const Machine& machine, const NodeSigns& view) const {
  const NodeTruth* const truth = stage_.truth.node(machine.name);
  if (!stage_.setting.falls_silent || truth == nullptr) return;
  require(!is_ready(truth->node) || !has_our_out_of_service_taint(truth->node),
          "out-of-service-left", machine.name + " is Ready, and the taint is on it still");
  const SilentState& silence = machine.silence;
  if (!silence.is_down && !(silence.is_cut_off && silence.is_unread)) return;
  const bool is_known = std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const Remediation& one = known.second;
    if (IdentityRules::is_cancelled(one, truth->node)) return true;
    if (one.node_uid != truth->node.meta.uid) return false;
    return one.wish.cancel || std::ranges::any_of(one.alerts, [&](const AlertEvidence& alert) {
             return one.open() && alert.firing() && is_of_silent_node(alert);
           });
  });
  if (is_known) return;
  const auto now = stage_.clock.wall();
  const auto nodes = view.signs(now);
  const auto policy = stage_.meant.get();
  const remediator::SilentNodes silent(nodes, policy->silent, policy->startup_grace, now);
  const auto own = std::ranges::find(nodes, machine.name, &NodeSign::node);
  const bool is_withheld = own == nodes.end() || !silent.counts(*own) || silent.objection(*own);
  require(is_withheld, "silent-known", machine.name + " is silent, and nobody knows that it is");
}

std::vector<NodeSign> LonelyNode::signs(WallTime now) const {
  auto nodes = nodes_.signs(now);
  if (!stage_.is_off(Sabotage::kPartition)) return nodes;
  for (NodeSign& node : nodes) {
    if (node.node == node_) continue;
    node.ready = "True";
    node.since.reset();
  }
  return nodes;
}

Result<MachineProofs> NotedProofs::read(const kube::Node& node) {
  signs_.ask_about(node.meta.name);
  auto proofs = reader_.read(node);
  if (!stage_.looks.empty())
    stage_.looks.back()->proofs = proofs ? std::optional(*proofs) : std::nullopt;
  if (!proofs) return proofs;
  if (stage_.is_off(Sabotage::kProofsOfDeath) && !proofs->empty()) {
    const auto now = stage_.clock.wall();
    proofs->push_back({ProofKind::kCloud, ProofSign::kDown, now, "bent", false});
    proofs->push_back({ProofKind::kScrapes, ProofSign::kDown, now, "bent", false});
  }
  if (stage_.is_off(Sabotage::kSignsOfLife)) {
    for (MachineProof& proof : *proofs) {
      if (proof.sign == ProofSign::kUp) proof.sign = ProofSign::kUnknown;
    }
  }
  if (stage_.is_off(Sabotage::kOffProof)) {
    for (MachineProof& proof : *proofs) proof.is_off = proof.sign == ProofSign::kDown;
  }
  return proofs;
}

Status NotedProofs::check_silent(const kube::Node& node) { return reader_.check_silent(node); }

void check_proofs(const Stage& stage, const Remediation& after, const StepRecord& record) {
  const Look& look = *stage.looks.back();
  const std::string what = std::string(to_string(record.step)) + " of " + after.name;
  require(look.proofs.has_value(), "two-proofs", what + " was intended without proofs");
  // Judges the proofs at the time when the last of them was read.
  WallTime read{};
  for (const MachineProof& proof : *look.proofs) read = std::max(read, proof.at);
  const auto why = objection_to_dead(*look.proofs, read);
  require(!why, "two-proofs", what + " was intended, and " + why.value_or(""));
  require(look.node.has_value() && !is_ready(*look.node), "two-proofs",
          what + " was intended, and the node is Ready");
}

void check_down(const Stage& stage, const Machine* machine, const remediator::Machine& order) {
  const Remediation* const owner = stage.truth.remediation(order.remediation);
  if (owner == nullptr || !rests_on_silence(*owner) || machine == nullptr) return;
  if (machine->provider_id() != order.provider_id) return;
  const bool is_down = machine->silence.is_down || !machine->works() || was_down(stage, *machine);
  require(is_down, "silent-running",
          order.node + " is restarted or ended for its silence, and its machine runs");
  require(!is_cloud_known_at_work(stage, *machine), "cloud-at-work",
          order.node + " is restarted or ended while its cloud is at work on it");
}

}  // namespace gpuward::remediator::simulation
