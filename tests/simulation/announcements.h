// Clouds announce events on machines, move them, cancel them, carry them out and end them. The
// exporters of the machines write them on their Nodes some seconds later. Some Nodes show what
// another machine or an earlier boot read. Has its own chance.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "remediator/cluster/node_announcements.h"
#include "tests/simulation/announcement_rules.h"
#include "tests/simulation/fleet.h"

namespace gpuward::remediator::simulation {

class Announcements {
 public:
  Announcements(Stage& stage, Fleet& fleet, AnnouncementRules& rules, const Told& told)
      : stage_(stage), fleet_(fleet), rules_(rules), told_(told) {}

  // One event of the busy time.
  void do_something();
  // Does all that clouds and exporters have due now; `next` is when the next of it is due.
  void go_on();
  [[nodiscard]] std::optional<Clock::Steady> next() const;
  // From now on every exporter writes the truth, and soon. Clouds announce some more events.
  void settle();
  // Called when all delayed alerts have arrived, before a replica reconciles a node.
  void on_calm() { rules_.on_calm(); }
  // Whether the machine of that name has an announced event.
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
  int announced_ = 0;  // number of announcements so far
};

// The announcements that a replica's source reads, as a sabotage bends them.
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

// Applies to some simulations; has its own chance, so that the others stay as they are.
void let_clouds_announce(Setting& setting, Chance& chance);

}  // namespace gpuward::remediator::simulation
