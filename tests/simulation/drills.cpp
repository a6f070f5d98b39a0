#include "tests/simulation/drills.h"

#include <algorithm>

#include "remediator/decide/guards/drills.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

}  // namespace

void let_drills_run(Setting& setting, Chance& chance) {
  const bool is_crowded = setting.tests_pairs || setting.falls_silent || setting.is_announced;
  if (is_crowded || setting.nodes > 16 || !chance.happens(0.2)) return;
  setting.has_drills = true;
  setting.nodes = std::max(setting.nodes, chance.between(1, 5));
  setting.events += 60;
}

void Drills::do_something() {
  if (!stage_.setting.has_drills) return;
  go_on();
  Chance& chance = stage_.drills_chance;
  if (!chance.happens(0.15)) return;
  Machine& machine = chance.pick(fleet_.machines());
  if (!machine.works()) return;
  switch (chance.weighted({40, 45, 12, 15})) {
    case 0:
      return inject(machine);
    case 1:
      return label(machine);
    case 2:
      return end(machine);
    default:
      if (machine.drill.ends) break_down(machine);
  }
}

void Drills::inject(Machine& machine) {
  Chance& chance = stage_.drills_chance;
  if (machine.is_restarting) return;
  if (chance.happens(0.8)) label(machine);
  InjectedDrill& drill = machine.drill;
  end(machine);
  drill.severity = chance.one_of({Severity::kReset, Severity::kReboot, Severity::kIsolate});
  drill.boot = machine.boot_id(machine.boots);
  drill.ends = stage_.clock.steady() + chance.span(minutes(1), minutes(60));
  // Each episode of an alert begins at a different moment.
  Alert& alert = drill.alerts[drill.severity];
  alert.starts_at = std::max(stage_.true_time(), alert.ends_at + milliseconds(1));
  alert.is_firing = true;
  stage_.trace.say(machine.name + ": a drill of " + std::string(to_string(drill.severity)));
}

// The machine really breaks, during its drill or after it, as severely or not. A machine that was
// replaced meanwhile has had no drill.
void Drills::break_down(Machine& machine) {
  const auto& injected = machine.drill.alerts;
  const bool is_alike = stage_.drills_chance.happens(0.6) && !injected.empty();
  fleet_.break_down(machine, is_alike ? std::optional(injected.rbegin()->first) : std::nullopt);
}

void Drills::label(const Machine& machine) {
  Chance& chance = stage_.drills_chance;
  const bool is_allowed = chance.happens(0.75);
  const Json value =
      is_allowed ? Json(std::string(kDrillAllowed))
                 : (chance.happens(0.5) ? Json(nullptr) : Json(chance.one_of({"no", "Allowed"})));
  stage_.patch_node(machine.name,
                    {{"metadata", {{"labels", {{std::string(kDrillLabel), value}}}}}});
  if (!is_allowed) rules_.on_forbidden(stage_.truth.node(machine.name)->node.meta.uid);
  stage_.trace.say("human: drill=" + value.dump() + " " + machine.name);
}

void Drills::end(Machine& machine) {
  InjectedDrill& drill = machine.drill;
  if (!drill.ends) return;
  Alert& alert = drill.alerts[drill.severity];
  alert.is_firing = false;
  alert.ends_at = std::max(stage_.true_time(), alert.starts_at);
  drill.severity = Severity::kNone;
  drill.ends.reset();
  stage_.trace.say(machine.name + ": the drill is over");
}

void Drills::go_on() {
  for (Machine& machine : fleet_.machines()) {
    InjectedDrill& drill = machine.drill;
    if (drill.breaks && *drill.breaks <= stage_.clock.steady()) {
      drill.breaks.reset();
      if (machine.works() && !machine.is_restarting) break_down(machine);
    }
    if (!drill.ends) continue;
    const bool has_restarted = drill.boot != machine.boot_id(machine.boots);
    if (!machine.works() || machine.is_restarting || has_restarted ||
        *drill.ends <= stage_.clock.steady())
      end(machine);
  }
}

std::optional<Clock::Steady> Drills::next() const {
  std::optional<Clock::Steady> next;
  for (const Machine& machine : fleet_.machines()) {
    for (const auto& at : {machine.drill.ends, machine.drill.breaks}) {
      if (at) next = std::min(next.value_or(*at), *at);
    }
  }
  return next;
}

void Drills::settle() {
  if (!stage_.setting.has_drills) return;
  go_on();
  for (Machine& machine : fleet_.machines()) {
    if (!machine.works() || !stage_.drills_chance.happens(0.5)) continue;
    inject(machine);
    if (stage_.drills_chance.happens(0.5))
      machine.drill.breaks =
          stage_.clock.steady() + stage_.drills_chance.span(minutes(0), minutes(4));
  }
}

}  // namespace gpuward::remediator::simulation
