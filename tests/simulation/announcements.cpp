#include "tests/simulation/announcements.h"

#include <algorithm>

#include "remediator/model/announced.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kExporterWrites{20};  // at the latest, after the cloud announced it
constexpr minutes kFarthest{50};        // an announced event begins within this time

PlannedStep soon(Step step) {
  PlannedStep plan = planned(step);
  if (step != Step::kVerify) return plan;
  plan.timeout = minutes(6);
  plan.soak = minutes(1);
  return plan;
}

MaintenanceRule draw_rule(Chance& chance) {
  MaintenanceRule rule;
  if (chance.happens(0.2)) return rule;
  if (chance.happens(0.4)) rule.steps.push_back(soon(Step::kTaint));
  rule.steps.push_back(soon(Step::kCordon));
  if (chance.happens(0.9)) {
    rule.steps.push_back(soon(Step::kDrain));
    rule.drain_takes = chance.span(minutes(0), minutes(30));
  }
  if (chance.happens(0.85)) {
    rule.steps.push_back(soon(Step::kVerify));
    rule.steps.push_back(soon(Step::kReturn));
  }
  return rule;
}

// The announcements as the machine's exporter writes them.
std::vector<NodeAnnouncement> said_by(const Machine& machine) {
  std::vector<NodeAnnouncement> list;
  const std::string boot =
      machine.cloud.old_boot.empty() ? machine.boot_id(machine.boots) : machine.cloud.old_boot;
  const auto add = [&](const CloudEvent& event, const std::string& boot_id) {
    list.push_back({.announced = {.id = event.id,
                                  .kind = event.kind,
                                  .announced_by = "aws",
                                  .what = "scheduled",
                                  .start = event.start,
                                  .first_seen = event.first_seen,
                                  .workload = ""},
                    .is_stale = machine.cloud.is_mute,
                    .boot_id = boot_id});
  };
  for (const CloudEvent& event : machine.cloud.events) add(event, boot);
  for (const auto& [event, boot_id] : machine.cloud.foreign) add(event, boot_id);
  return list;
}

bool is_drained(const Stage& stage, const std::string& node) {
  return std::ranges::any_of(stage.truth.remediations(), [&](const auto& known) {
    const StepRecord* const drain = known.second.status.find(Step::kDrain);
    return known.second.open() && known.second.node == node && drain != nullptr &&
           drain->result == StepResult::kDone;
  });
}

}  // namespace

void let_clouds_announce(Setting& setting, Chance& chance) {
  const bool is_crowded = setting.tests_pairs || setting.wears_out;
  if (is_crowded || setting.nodes > 16 || !chance.happens(0.25)) return;
  setting.is_announced = true;
  setting.nodes = std::max(setting.nodes, chance.between(1, 5));
  setting.events += 40;
  Policy& policy = setting.policy;
  for (std::size_t i = 0; i < kAnnouncementKinds.size(); ++i) {
    if (!chance.happens(0.8)) continue;
    policy.maintenance[static_cast<AnnouncementKind>(i)] = draw_rule(chance);
  }
  if (chance.happens(0.8)) policy.mode = Mode::kFull;
}

void Announcements::do_something() {
  if (!stage_.setting.is_announced) return;
  go_on();
  Chance& chance = stage_.announced_chance;
  if (!chance.happens(0.15)) return;
  Machine& machine = chance.pick(fleet_.machines());
  if (!machine.works()) return;
  switch (chance.weighted({40, 15, 12, 8, 20, 5})) {
    case 0:
      return announce(machine, chance.span(seconds(10), kFarthest));
    case 1:
      return move(machine);
    case 2:
      return call_off(machine);
    case 3:  // the exporter writes again what the previous boot read
      machine.cloud.old_boot = chance.happens(0.5) ? machine.boot_id(machine.boots - 1) : "";
      machine.cloud.foreign.clear();
      return;
    case 4:
      return copy_to_another(machine);
    default:  // the cloud does not answer
      machine.cloud.is_mute = !machine.cloud.is_mute;
  }
}

// The event begins at its announced start, or some minutes later.
void Announcements::place(CloudEvent& event, std::chrono::milliseconds ahead) {
  Chance& chance = stage_.announced_chance;
  event.start = std::chrono::floor<seconds>(stage_.true_time() + ahead);
  event.begins = stage_.clock.steady() + ahead;
  if (chance.happens(0.5)) event.begins += chance.span(minutes(3), minutes(6));
}

void Announcements::announce(Machine& machine, std::chrono::milliseconds ahead) {
  Chance& chance = stage_.announced_chance;
  CloudEvent event;
  event.id = "event-" + std::to_string(++announced_);
  event.kind = static_cast<AnnouncementKind>(chance.weighted({15, 20, 30, 20, 15}));
  place(event, ahead);
  event.first_seen = std::chrono::floor<seconds>(stage_.true_time());
  stage_.trace.say(machine.name + ": its cloud announces " + std::string(to_string(event.kind)) +
                   " " + event.id + " in " + std::to_string(ahead.count()) + " ms");
  machine.cloud.events.push_back(std::move(event));
}

// Moves the start to an earlier or later time.
void Announcements::move(Machine& machine) {
  Chance& chance = stage_.announced_chance;
  for (CloudEvent& event : machine.cloud.events) {
    if (event.is_begun() || !chance.happens(0.6)) continue;
    const auto ahead = chance.span(seconds(5), kFarthest);
    place(event, ahead);
    stage_.trace.say(event.id + " is moved: in " + std::to_string(ahead.count()) + " ms");
  }
}

void Announcements::call_off(Machine& machine) {
  std::erase_if(machine.cloud.events, [&](const CloudEvent& event) {
    const bool is_off = !event.is_begun() && stage_.announced_chance.happens(0.6);
    if (is_off) stage_.trace.say(event.id + " is called off");
    return is_off;
  });
}

// An operator restores a Node from a copy of another Node.
void Announcements::copy_to_another(const Machine& machine) {
  if (machine.cloud.events.empty()) return;
  Machine& other = stage_.announced_chance.pick(fleet_.machines());
  if (!other.works() || &other == &machine) return;
  for (const CloudEvent& event : machine.cloud.events)
    other.cloud.foreign.emplace_back(event, machine.boot_id(machine.boots));
  stage_.trace.say(other.name + " has what is announced of " + machine.name);
}

void Announcements::carry_out(Machine& machine, CloudEvent& event) {
  Chance& chance = stage_.announced_chance;
  stage_.trace.say(machine.name + ": " + event.id + " begins");
  if (stage_.is_quiet) rules_.check_begun(machine, event, told_);
  event.over = stage_.clock.steady() + chance.span(seconds(0), minutes(8));
  const bool may_take_down = stage_.setting.falls_silent &&
                             event.kind != AnnouncementKind::kRebalance &&
                             event.kind != AnnouncementKind::kTerminate;
  if (may_take_down && chance.happens(0.6)) {
    event.takes_down = true;
    event.over = *event.over + chance.span(minutes(5), minutes(40));
    return;
  }
  switch (event.kind) {
    case AnnouncementKind::kRebalance:
    case AnnouncementKind::kFreeze:
      return;
    case AnnouncementKind::kReboot:
    case AnnouncementKind::kRedeploy:
      if (!machine.is_restarting && !machine.silence.is_down) fleet_.boot_again(machine);
      return;
    case AnnouncementKind::kTerminate:
      return fleet_.begin_end(machine, stage_.clock.steady() + chance.span(seconds(5), minutes(3)));
  }
}

void Announcements::go_on() {
  if (!stage_.setting.is_announced) return;
  for (Machine& machine : fleet_.machines()) go_on(machine);
}

void Announcements::go_on(Machine& machine) {
  const Clock::Steady now = stage_.clock.steady();
  MachineCloud& cloud = machine.cloud;
  for (std::size_t i = 0; i < cloud.events.size() && machine.works(); ++i) {
    if (!cloud.events[i].is_begun() && cloud.events[i].begins <= now)
      carry_out(machine, cloud.events[i]);
  }
  std::erase_if(cloud.events, [&](const CloudEvent& event) {
    const bool is_over = !machine.works() || (event.is_begun() && *event.over <= now);
    if (is_over) stage_.trace.say(event.id + " is over");
    return is_over;
  });
  if (cloud.foreign_until && *cloud.foreign_until <= now) {
    cloud.foreign.clear();
    cloud.foreign_until.reset();
  }
  const bool is_heard = machine.works() && !machine.is_restarting && !machine.silence.is_cut_off;
  if (!is_heard || is_written(machine)) return cloud.writes.reset();
  if (!cloud.writes) cloud.writes = now + stage_.announced_chance.span(seconds(0), kExporterWrites);
  if (*cloud.writes > now) return;
  cloud.writes.reset();
  write(machine);
}

std::string Announcements::text_of(const Machine& machine) const {
  auto list = said_by(machine);
  for (NodeAnnouncement& one : list) {
    if (stage_.is_off(Sabotage::kAnnouncedBoot)) {
      one.boot_id = machine.boot_id(machine.boots);
      one.is_stale = false;
    }
    if (stage_.is_off(Sabotage::kAnnouncedEarly)) one.announced.start -= hours(24);
    if (stage_.is_off(Sabotage::kAnnouncedLate)) one.announced.start += hours(24);
  }
  return list.empty() ? "" : node_announcements_text(list);
}

bool Announcements::is_written(const Machine& machine) const {
  const auto& annotations = stage_.truth.node(machine.name)->node.meta.annotations;
  const auto found = annotations.find(std::string(kAnnouncementsAnnotation));
  return (found == annotations.end() ? "" : found->second) == text_of(machine);
}

void Announcements::write(Machine& machine) {
  const std::string text = text_of(machine);
  const Json value = text.empty() ? Json(nullptr) : Json(text);
  stage_.patch_node(
      machine.name,
      {{"metadata", {{"annotations", {{std::string(kAnnouncementsAnnotation), value}}}}}});
  rules_.on_said(stage_.truth.node(machine.name)->node.meta.uid, said_by(machine));
  stage_.trace.say(machine.name + "'s exporter says what is announced: " + text);
}

std::optional<Clock::Steady> Announcements::next() const {
  std::optional<Clock::Steady> next;
  const auto note = [&](Clock::Steady at) { next = std::min(next.value_or(at), at); };
  for (const Machine& machine : fleet_.machines()) {
    if (!machine.works()) continue;
    if (machine.cloud.writes) note(*machine.cloud.writes);
    if (machine.cloud.foreign_until) note(*machine.cloud.foreign_until);
    for (const CloudEvent& event : machine.cloud.events) note(event.over.value_or(event.begins));
  }
  return next;
}

void Announcements::settle() {
  if (!stage_.setting.is_announced) return;
  Chance& chance = stage_.announced_chance;
  rules_.on_calm();
  for (Machine& machine : fleet_.machines()) {
    machine.cloud.is_mute = false;
    machine.cloud.old_boot.clear();
    machine.cloud.foreign_until = stage_.clock.steady() + chance.span(minutes(0), minutes(40));
    if (machine.works() && machine.cloud.events.empty() && chance.happens(0.5))
      announce(machine, chance.span(minutes(1), kFarthest));
  }
  go_on();
}

bool Announcements::is_announced(std::string_view node) const {
  const Machine* const machine = fleet_.find(node);
  return machine != nullptr && !machine->cloud.events.empty();
}

bool Announcements::is_any_left() const {
  return std::ranges::any_of(fleet_.machines(), [](const Machine& machine) {
    const MachineCloud& cloud = machine.cloud;
    const bool is_any = !cloud.events.empty() || !cloud.foreign.empty() || cloud.writes.has_value();
    return machine.works() && is_any;
  });
}

std::vector<AnnouncedNode> BentAnnouncements::announcements() const {
  auto nodes = nodes_.announcements();
  for (AnnouncedNode& node : nodes) {
    if (stage_.is_off(Sabotage::kAnnouncedOver) && is_drained(stage_, node.node)) node.list.clear();
    if (!stage_.is_off(Sabotage::kAnnouncedKept)) continue;
    auto& ever = ever_[node.node];
    ever.insert(ever.end(), node.list.begin(), node.list.end());
    node.list = ever;
  }
  return nodes;
}

}  // namespace gpuward::remediator::simulation
