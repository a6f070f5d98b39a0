// The end of machines, and of their Nodes: part of the Fleet. The instance shuts down, then it is
// gone, then the cloud's controller deletes the Node, then perhaps another machine replaces it. A
// Node may also go alone; then its kubelet registers it again.
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The name of a machine in the same place: pools, zones and racks depend on the number.
std::string name_beside(const Machine& machine) {
  constexpr int kAnotherBatch = 2400;
  const int number = std::stoi(machine.name.substr(machine.name.find('-') + 1));
  return "gpu-" + std::to_string(number + kAnotherBatch);
}

}  // namespace

Machine* Fleet::find_instance(std::string_view provider_id) {
  for (Machine& machine : machines_) {
    if (machine.provider_id() == provider_id) return &machine;
  }
  return nullptr;
}

void Fleet::begin_end(Machine& machine, std::optional<Clock::Steady> gone_at) {
  machine.life = Life::kEnding;
  machine.restarts_at.reset();
  machine.is_restarting = false;
  machine.back_at.reset();
  machine.turns_at = gone_at;
  if (machine.exists) turn_ready(machine, false);
  stage_.trace.say(machine.instance() + " shuts down");
}

void Fleet::go_on_ending(Machine& machine) {
  const Clock::Steady now = stage_.clock.steady();
  if (machine.life == Life::kEnding) {
    be_gone(machine);
    machine.turns_at = now + stage_.chance.span(seconds(0), minutes(3));
  } else if (machine.exists) {
    go(machine);
    machine.turns_at.reset();
    if (stage_.chance.happens(0.6))
      machine.turns_at = now + stage_.chance.span(seconds(5), minutes(5));
  } else {
    come_anew(machine, stage_.chance.happens(0.5));
  }
}

void Fleet::be_gone(Machine& machine) {
  machine.life = Life::kGone;
  end_alerts(machine);
  detach_volumes(machine);
  stage_.truth.note_gone(machine.provider_id());
  stage_.trace.say(machine.instance() + " is gone");
}

// Deletes the Node; its machine is not changed.
void Fleet::go(Machine& machine) {
  stage_.remove_node(machine.name);
  machine.exists = false;
  machine.is_restarting = false;
  machine.back_at.reset();
  stage_.trace.say(machine.name + " is deleted");
}

void Fleet::come(Machine& machine) {
  if (machine.life == Life::kEnding) return;
  if (machine.life == Life::kRuns && stage_.chance.happens(0.6)) return register_again(machine);
  come_anew(machine, stage_.chance.happens(0.7));
}

void Fleet::register_again(Machine& machine) {
  machine.silence = {};  // its kubelet is heard again
  write_node(machine);
  machine.exists = true;
  machine.is_ready = true;
  stage_.trace.say(machine.name + " is registered again");
}

// The Node is deleted and registered again, with or without a restart.
void Fleet::register_anew(Machine& machine) {
  Chance& chance = stage_.identity_chance;
  go(machine);
  const std::size_t how = chance.weighted({60, 20, 20});
  if (how == 1) ++machine.boots;
  if (how == 2) change_boards(machine);
  register_again(machine);
}

// The same instance on other hardware, which is healthy or not.
void Fleet::change_boards(Machine& machine) {
  ++machine.boards;
  ++machine.boots;
  stage_.trace.say(machine.instance() + " has other boards");
  if (stage_.identity_chance.happens(0.3)) return;
  cure(machine);
  end_alerts(machine);
}

// Prometheus keeps an alert that fires for a while (keep_firing_for), even if another machine has
// the name meanwhile. An alert that began and ended at this moment does not begin a second time at
// the same moment.
std::map<Severity, Alert> Fleet::kept_alerts(const Machine& machine) {
  std::map<Severity, Alert> kept;
  for (const auto& [severity, alert] : machine.alerts) {
    const bool is_instant = !alert.is_firing && alert.ends_at == alert.starts_at;
    if (is_instant && alert.ends_at >= stage_.true_time()) kept[severity] = alert;
  }
  if (!stage_.setting.keeps_alerts || !stage_.kept_chance.happens(0.5)) return kept;
  for (const auto& [severity, alert] : machine.alerts) {
    if (alert.is_firing) kept[severity] = alert;
  }
  return kept;
}

// Comes back as another machine, under the same name or another.
void Fleet::come_anew(Machine& machine, bool keeps_name) {
  if (machine.life != Life::kGone) be_gone(machine);
  auto alerts = keeps_name ? kept_alerts(machine) : std::map<Severity, Alert>();
  machine = Machine{.name = keeps_name ? machine.name : name_beside(machine),
                    .births = keeps_name ? machine.births + 1 : 1,
                    .alerts = std::move(alerts),
                    .back_at = {},
                    .turns_at = {}};
  draw_links(machine);
  write_node(machine);
  stage_.trace.say(machine.name + " is made anew");
}

void Fleet::replace(Machine& machine) {
  if (machine.exists) go(machine);
  come_anew(machine);
}

void Fleet::attach_volume(const Machine& machine) {
  const std::string name = "csi-" + std::to_string(++volumes_);
  stage_.attach({{"apiVersion", "storage.k8s.io/v1"},
                 {"kind", "VolumeAttachment"},
                 {"metadata", {{"name", name}}},
                 {"spec",
                  {{"attacher", "ebs.csi.aws.com"},
                   {"nodeName", machine.name},
                   {"source", {{"persistentVolumeName", "pv-" + std::to_string(volumes_)}}}}},
                 {"status", {{"attached", false}}}});
  stage_.trace.say(name + " is attached to " + machine.name);
}

void Fleet::detach_volumes(const Machine& machine) { stage_.detach_all(machine.name); }

}  // namespace gpuward::remediator::simulation
