#include "tests/simulation/fleet.h"

#include <algorithm>

#include "tests/fakes/kube_objects.h"
#include "tests/simulation/operands.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

Json ready_condition(const std::string& status) {
  return {{"type", "Ready"}, {"status", status}, {"reason", "Kubelet"}};
}

Severity draw_severity(Chance& chance, bool wears_out) {
  if (wears_out && chance.happens(0.8)) return Severity::kIsolate;
  return std::array{Severity::kMonitor, Severity::kReset, Severity::kReboot,
                    Severity::kIsolate}[chance.weighted({5, 15, 55, 25})];
}

// Two pools, three zones, and two nodes per rack; the last rack has no name.
void put_place(Json& labels, int number) {
  labels["eks.amazonaws.com/nodegroup"] = "pool-" + std::to_string(number % 2);
  labels["topology.kubernetes.io/zone"] = "zone-" + std::to_string(number % 3);
  if (number % 8 != 7) labels["rack"] = "rack-" + std::to_string(number / 2);
}

}  // namespace

Fleet::Fleet(Stage& stage) : stage_(stage) {
  for (int i = 0; i < stage_.setting.nodes; ++i) {
    Machine& machine = machines_.emplace_back();
    machine.name = "gpu-" + std::to_string(i);
    machine.heals_by_reboot = stage_.chance.happens(0.7);
    machine.forges_serials = stage_.setting.has_forgers && stage_.identity_chance.happens(0.4);
    draw_links(machine);
    write_node(machine);
  }
}

Machine* Fleet::find(std::string_view name) {
  const auto found = std::ranges::find(machines_, name, &Machine::name);
  return found == machines_.end() ? nullptr : &*found;
}

const Machine* Fleet::find(std::string_view name) const {
  const auto found = std::ranges::find(machines_, name, &Machine::name);
  return found == machines_.end() ? nullptr : &*found;
}

void Fleet::draw_links(const Machine& machine) {
  if (stage_.setting.tests_pairs && stage_.pairs_chance.happens(0.4))
    stage_.bad_links.insert(machine.provider_id());
}

void Fleet::write_node(Machine& machine) {
  Json node = fakes::ready_node(machine.name);
  const Json address = {{"type", "InternalIP"}, {"address", "10.0.0.1"}};
  node["status"]["addresses"] = Json::array({address});
  node["spec"]["providerID"] = machine.provider_id();
  node["status"]["conditions"] = conditions_of(machine);
  node["status"]["nodeInfo"]["bootID"] = machine.boot_id(machine.boots);
  node["status"]["nodeInfo"]["systemUUID"] = machine.system_uuid();
  put_operands(stage_, node["metadata"]["labels"]);
  put_place(node["metadata"]["labels"], std::stoi(machine.name.substr(machine.name.find('-') + 1)));
  if (stage_.chance.happens(0.04)) node["metadata"]["labels"]["gpuward.dev/managed"] = "false";
  if (stage_.chance.happens(0.05)) node["spec"]["unschedulable"] = true;
  stage_.create_node(node);
}

void Fleet::write_status(Machine& machine) {
  stage_.patch_node_status(machine.name,
                           {{"status",
                             {{"nodeInfo", {{"bootID", machine.boot_id(machine.boots)}}},
                              {"conditions", conditions_of(machine)}}}});
}

Json Fleet::conditions_of(Machine& machine) const {
  const SilentState& silence = machine.silence;
  const bool is_unknown =
      silence.is_cut_off && (!silence.unknown_at || *silence.unknown_at <= stage_.clock.steady());
  const std::string ready = is_unknown ? "Unknown" : (machine.is_ready ? "True" : "False");
  Json conditions = Json::array({ready_condition(ready)});
  if (stage_.setting.falls_silent) {
    if (machine.ready_said != ready) machine.ready_since = stage_.true_time();
    machine.ready_said = ready;
    conditions[0]["lastTransitionTime"] = to_rfc3339(machine.ready_since);
  }
  if (stage_.setting.places.conditions)
    conditions.push_back({{"type", kProblem},
                          {"status", machine.problem.status},
                          {"lastTransitionTime", to_rfc3339(machine.problem.since)}});
  return conditions;
}

void Fleet::turn_problem(Machine& machine, const std::string& status) {
  Problem& problem = machine.problem;
  if (!stage_.setting.places.conditions || problem.status == status) return;
  if (problem.status == "False") problem.last_false = stage_.true_time();
  problem.status = status;
  problem.since = stage_.true_time();
  if (machine.exists) write_status(machine);
  stage_.trace.say(machine.name + ": " + kProblem + " is " + status);
}

void Fleet::let_others_say(Machine& machine, bool is_bad) {
  Chance& chance = stage_.places_chance;
  if (stage_.setting.places.foreign && machine.foreign.is_firing != is_bad &&
      (!is_bad || chance.happens(0.6)))
    turn_alert(machine.foreign, is_bad);
  if (!is_bad) return turn_problem(machine, "False");
  if (chance.happens(0.6)) turn_problem(machine, "True");
}

void Fleet::turn_alert(Alert& alert, bool fires) const {
  if (alert.is_firing == fires) return;
  alert.is_firing = fires;
  // Each episode of an alert begins at a different moment, even if no time passes here.
  if (fires) {
    alert.starts_at = std::max(stage_.true_time(), alert.ends_at + std::chrono::milliseconds(1));
  } else {
    alert.ends_at = std::max(stage_.true_time(), alert.starts_at);
  }
}

void Fleet::raise(Machine& machine, Severity severity) {
  turn_alert(machine.alerts[severity], true);
}

void Fleet::end_alerts(Machine& machine) {
  for (auto& [severity, alert] : machine.alerts) turn_alert(alert, false);
  let_others_say(machine, false);
}

void Fleet::change_one() {
  Machine& machine = stage_.chance.pick(machines_);
  if (!machine.exists) return come(machine);
  const bool is_anew = stage_.setting.registers_anew && stage_.identity_chance.happens(0.08);
  if (is_anew && machine.life == Life::kRuns) return register_anew(machine);
  if (machine.life != Life::kRuns) return stage_.chance.happens(0.2) ? go(machine) : void();
  const bool lies = stage_.setting.has_lies;
  switch (stage_.chance.weighted({40, 8, 10, lies ? 12 : 0, 5, 5, 5, 4, 2, 6, 6})) {
    case 0:
      return break_down(machine);
    case 1:
      return heal(machine);
    case 2:
      return flap(machine);
    case 3:
      return lie(machine);
    case 4:
      return go(machine);
    case 5:
      return turn_ready(machine, !machine.is_ready);
    case 6:
      return boot_again(machine);
    case 7:
      return put_repairer(machine);
    case 8:
      return begin_end(machine, stage_.clock.steady() + stage_.chance.span(seconds(5), minutes(3)));
    case 9:
      return attach_volume(machine);
    default:
      return detach_volumes(machine);
  }
}

void Fleet::break_down(Machine& machine, std::optional<Severity> like) {
  Severity severity = like ? *like : draw_severity(stage_.chance, stage_.setting.wears_out);
  if (!like && stage_.setting.has_jobs && stage_.jobs_chance.happens(0.8))
    severity = Severity::kReset;
  machine.fault = std::max(machine.fault, severity);
  if (machine.fault >= Severity::kReset && !machine.sick_since)
    machine.sick_since = stage_.clock.steady();
  machine.heals_by_reboot = stage_.chance.happens(0.7);
  machine.proof = std::array{Proof::kMeasured, Proof::kLatched,
                             Proof::kDiagnosed}[stage_.chance.weighted({60, 25, 15})];
  raise(machine, machine.fault);
  let_others_say(machine, true);
  stage_.trace.say(machine.name + " breaks: " + std::string(to_string(machine.fault)));
}

void Fleet::cure(Machine& machine) {
  machine.fault = Severity::kNone;
  const auto since = std::exchange(machine.sick_since, std::nullopt);
  if (since) machine.cured = Cured{stage_.clock.steady(), stage_.clock.steady() - *since};
}

void Fleet::heal(Machine& machine) {
  cure(machine);
  end_alerts(machine);
  stage_.trace.say(machine.name + " is well");
}

void Fleet::flap(Machine& machine) {
  if (machine.alerted() != Severity::kNone) {
    end_alerts(machine);
  } else if (!machine.alerts.empty()) {
    raise(machine, machine.alerts.rbegin()->first);
  }
  stage_.trace.say(machine.name + "'s alerts flap");
}

void Fleet::lie(Machine& machine) {
  machine.voice = stage_.chance.one_of({Voice::kHonest, Voice::kStale, Voice::kOldBoot,
                                        Voice::kSilent, Voice::kBlind, Voice::kInvented});
  if (machine.voice == Voice::kInvented || stage_.chance.happens(0.4)) {
    raise(machine, draw_severity(stage_.chance, stage_.setting.wears_out));
  }
  if (stage_.setting.places.any() && stage_.places_chance.happens(0.5))
    turn_problem(machine, stage_.places_chance.one_of({"True", "Unknown", "False"}));
  stage_.trace.say(machine.name + " lies: " + std::to_string(static_cast<int>(machine.voice)));
}

void Fleet::turn_ready(Machine& machine, bool is_ready) {
  machine.is_ready = is_ready;
  write_status(machine);
  stage_.trace.say(machine.name + (is_ready ? " is Ready" : " is not Ready"));
}

void Fleet::boot_again(Machine& machine) {
  if (machine.heals_by_reboot) {
    cure(machine);
    end_alerts(machine);
  }
  ++machine.boots;
  machine.booted_at = stage_.clock.steady();
  machine.is_restarting = false;
  machine.back_at.reset();
  machine.restarts_at.reset();
  machine.is_ready = true;
  machine.silence = {};
  write_status(machine);
  stage_.trace.say(machine.name + " is in boot " + std::to_string(machine.boots));
}

void Fleet::reset_gpus(Machine& machine) {
  if (machine.fault <= Severity::kReset && machine.heals_by_reboot) heal(machine);
}

void Fleet::put_repairer(Machine& machine) {
  const bool is_there = stage_.chance.happens(0.6);
  const Json value = is_there ? Json("pending") : Json(nullptr);
  stage_.patch_node(machine.name,
                    {{"metadata", {{"labels", {{"nvidia.com/mig.config.state", value}}}}}});
  stage_.trace.say(machine.name + (is_there ? " is repaired by others" : " is left by others"));
}

void Fleet::begin_restart(Machine& machine, std::optional<Clock::Steady> back_at) {
  machine.is_restarting = true;
  machine.back_at = back_at;
  machine.restarts_at.reset();
  turn_ready(machine, false);
}

// A machine that has no Node meanwhile has lost its restart.
void Fleet::restart_late(Machine& machine) {
  machine.restarts_at.reset();
  if (!machine.works()) return;
  stage_.trace.say(machine.name + " restarts late");
  begin_restart(machine, stage_.clock.steady() + stage_.cloud_chance.span(seconds(20), minutes(4)));
}

void Fleet::come_back() {
  const Clock::Steady now = stage_.clock.steady();
  for (Machine& machine : machines_) {
    if (machine.restarts_at && *machine.restarts_at <= now) restart_late(machine);
    if (machine.is_restarting && machine.back_at && *machine.back_at <= now) boot_again(machine);
    if (machine.turns_at && *machine.turns_at <= now) go_on_ending(machine);
  }
}

std::optional<Clock::Steady> Fleet::next_return() const {
  std::optional<Clock::Steady> next;
  for (const Machine& machine : machines_) {
    for (const auto& at : {machine.restarts_at, machine.back_at, machine.turns_at}) {
      if (at) next = std::min(next.value_or(*at), *at);
    }
  }
  return next;
}

void Fleet::break_again() {
  for (Machine& machine : machines_) {
    if (!machine.works() || machine.fault != Severity::kNone) continue;
    machine.fault = Severity::kReboot;
    raise(machine, machine.fault);
    stage_.trace.say(machine.name + " breaks again");
  }
}

void Fleet::settle() {
  for (Machine& machine : machines_) {
    machine.voice = Voice::kHonest;
    const bool is_hidden = !machine.exists && machine.life == Life::kRuns;
    if (is_hidden && stage_.chance.happens(0.5)) register_again(machine);
    const bool is_anew = stage_.setting.registers_anew && stage_.identity_chance.happens(0.3);
    if (is_anew && machine.works()) register_anew(machine);
    if (!machine.works()) continue;
    // Alerts of other severities than the fault's were false.
    if (machine.alerted() != machine.fault) end_alerts(machine);
    if (machine.fault < Severity::kReset) let_others_say(machine, false);
    if (machine.fault != Severity::kNone) raise(machine, machine.fault);
  }
}

}  // namespace gpuward::remediator::simulation
