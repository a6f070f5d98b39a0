// Clouds announce what they will do to machines: it comes, is moved, is called off, is carried out
// and is over. The exporters of the machines write that on their Nodes, some seconds later; and
// some Nodes have what another machine or an earlier boot has read. With chance of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "remediator/sources/node_announcements.h"
#include "tests/simulation/announcement_rules.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Announcements {
 public:
  Announcements(Stage& stage, Fleet& fleet, AnnouncementRules& rules, const Told& told)
      : stage_(stage), fleet_(fleet), rules_(rules), told_(told) {}

  // In the busy time.
  void do_something();
  // What clouds and exporters do by now, and when they do the next thing.
  void go_on();
  [[nodiscard]] std::optional<Clock::Steady> next() const;
  // Every exporter tells what is true, and soon; and clouds announce something once more.
  void settle();
  // The alerts that were on their way have arrived; no replica looked at a node before.
  void on_calm() { rules_.on_calm(); }
  // Whether something is announced of the machine of that name, or of any.
  [[nodiscard]] bool is_announced(std::string_view node) const;
  [[nodiscard]] bool is_any_left() const;

 private:
  void place(CloudEvent& event, std::chrono::milliseconds ahead);
  void announce(Machine& machine, std::chrono::milliseconds ahead);
  void move(Machine& machine);
  void call_off(Machine& machine);
  void carry_out(Machine& machine, CloudEvent& event);
  void copy_to_another(const Machine& machine);
  void go_on(Machine& machine);
  void write(Machine& machine);
  [[nodiscard]] std::string text_of(const Machine& machine) const;
  [[nodiscard]] bool is_written(const Machine& machine) const;

  Stage& stage_;
  Fleet& fleet_;
  AnnouncementRules& rules_;
  const Told& told_;
  int announced_ = 0;  // ever
};

// What a replica's source finds, as a sabotage bends it.
class BentAnnouncements final : public NodeAnnouncements {
 public:
  BentAnnouncements(const Stage& stage, const NodeAnnouncements& nodes)
      : stage_(stage), nodes_(nodes) {}
  [[nodiscard]] std::vector<AnnouncedNode> announcements() const override;

 private:
  const Stage& stage_;
  const NodeAnnouncements& nodes_;
  mutable std::map<std::string, std::vector<NodeAnnouncement>> ever_;  // by node
};

// In some simulations; with chance of its own, so that the others stay as they are.
void let_clouds_announce(Setting& setting, Chance& chance);

}  // namespace gpuward::remediator::simulation
