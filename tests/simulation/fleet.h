// All machines and their lives: they break, flap, report false faults, restart, leave and come
// back. Writes the Nodes as kubelets would. Used by the scheduler, the cloud and the reports.
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

  // Draws one machine and one change of it.
  void change_one();
  // The cloud has accepted the request; the machine never comes back if `back_at` is null.
  void begin_restart(Machine& machine, std::optional<Clock::Steady> back_at);
  // Machines whose restart is over come back in another boot. Machines that end move one phase
  // further.
  void come_back();
  [[nodiscard]] std::optional<Clock::Steady> next_return() const;
  // The machine shuts down; it never goes if `gone_at` is null.
  void begin_end(Machine& machine, std::optional<Clock::Steady> gone_at);
  // In one step, the machine goes and another machine takes its name.
  void replace(Machine& machine);
  // Its Node is deleted, and its kubelet registers it again.
  void register_anew(Machine& machine);
  // Breaks with severity `like`, or with a drawn one.
  void break_down(Machine& machine, std::optional<Severity> like = {});
  // Without a restart.
  void reset_gpus(Machine& machine);
  // Writes its present condition Ready.
  void say_ready(Machine& machine) { write_status(machine); }
  // Restarts without a call to the cloud.
  void boot_again(Machine& machine);
  // etcd was restored: kubelets and the cloud's controller make the Nodes match the machines.
  // `uids`: the Nodes right before the restore, by name.
  void correct_nodes(const std::map<std::string, std::string>& uids);
  // From now on every alert is true, and every exporter is honest.
  void settle();
  // Healthy machines break; those that were restarted before need a restart again.
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
  // Other rules and programs report the fault too, or stop that; perhaps only some of them.
  void let_others_say(Machine& machine, bool is_bad);
  void turn_problem(Machine& machine, const std::string& status);
  [[nodiscard]] Json conditions_of(Machine& machine) const;
  void draw_links(const Machine& machine);
  void write_node(Machine& machine);
  void write_status(Machine& machine);

  Stage& stage_;
  std::vector<Machine> machines_;
  int volumes_ = 0;  // number of volumes attached so far
};

}  // namespace gpuward::remediator::simulation
