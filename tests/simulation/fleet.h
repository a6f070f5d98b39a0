// All machines and what becomes of them: they break, flap, lie, restart, go and come again. Writes
// the Nodes as kubelets would. Used by the scheduler, the cloud and the reports.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/simulation/machine.h"
#include "tests/simulation/stage.h"

namespace gpuward::remediator::simulation {

class Fleet {
 public:
  explicit Fleet(Stage& stage);

  // One machine changes; which and how is drawn.
  void change_one();
  // The cloud has taken the order; `back_at` null: it never comes back.
  void begin_restart(Machine& machine, std::optional<Clock::Steady> back_at);
  // Machines whose restart is over by now come back in another boot; those that end go on with it.
  void come_back();
  [[nodiscard]] std::optional<Clock::Steady> next_return() const;
  // It shuts down; `gone_at` null: for ever.
  void begin_end(Machine& machine, std::optional<Clock::Steady> gone_at);
  // All at once: it is gone, and another has its name.
  void replace(Machine& machine);
  // Its Node goes, and its kubelet registers it again.
  void register_anew(Machine& machine);
  // As severely, or as is drawn.
  void break_down(Machine& machine, std::optional<Severity> like = {});
  // In place, without a restart.
  void reset_gpus(Machine& machine);
  // Its condition Ready, as it stands by now.
  void say_ready(Machine& machine) { write_status(machine); }
  // By itself: nobody asked the cloud.
  void boot_again(Machine& machine);
  // etcd is restored: kubelets and the cloud's controller bring the Nodes up to what the machines
  // are. `uids`: of the Nodes right before, by name.
  void correct_nodes(const std::map<std::string, std::string>& uids);
  // The end of all lies: every alert says what is true, every exporter is honest.
  void settle();
  // Machines that are well need a restart, as those do that were restarted before.
  void break_again();

  [[nodiscard]] std::vector<Machine>& machines() { return machines_; }
  [[nodiscard]] const std::vector<Machine>& machines() const { return machines_; }
  [[nodiscard]] Machine* find(std::string_view name);
  [[nodiscard]] const Machine* find(std::string_view name) const;
  // The machine of that spec.providerID, if it has not been replaced.
  [[nodiscard]] Machine* find_instance(std::string_view provider_id);

 private:
  void heal(Machine& machine);
  void cure(Machine& machine);
  void flap(Machine& machine);
  void lie(Machine& machine);
  void go(Machine& machine);
  void come(Machine& machine);
  [[nodiscard]] std::map<Severity, Alert> kept_alerts(const Machine& machine);
  void come_anew(Machine& machine, bool keeps_name = true);
  void register_again(Machine& machine);
  void change_boards(Machine& machine);
  void be_gone(Machine& machine);
  void go_on_ending(Machine& machine);
  void attach_volume(const Machine& machine);
  void detach_volumes(const Machine& machine);
  void turn_ready(Machine& machine, bool is_ready);
  void restart_late(Machine& machine);
  void put_repairer(Machine& machine);
  void turn_alert(Alert& alert, bool fires) const;
  void raise(Machine& machine, Severity severity);
  void end_alerts(Machine& machine);
  // Others say so too, or no longer; perhaps only some of them.
  void let_others_say(Machine& machine, bool is_bad);
  void turn_problem(Machine& machine, const std::string& status);
  [[nodiscard]] Json conditions_of(Machine& machine) const;
  void draw_links(const Machine& machine);
  void write_node(Machine& machine);
  void write_status(Machine& machine);

  Stage& stage_;
  std::vector<Machine> machines_;
  int volumes_ = 0;  // ever attached
};

}  // namespace gpuward::remediator::simulation
