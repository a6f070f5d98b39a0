// One simulation from beginning to end: a cluster, its machines, operators and replicas, and the
// order in which they act. First everything happens at once, then nothing fails any more and
// everything must come to rest.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/simulation/absences.h"
#include "tests/simulation/announcements.h"
#include "tests/simulation/bent_steps.h"
#include "tests/simulation/care.h"
#include "tests/simulation/cloud.h"
#include "tests/simulation/drain.h"
#include "tests/simulation/drills.h"
#include "tests/simulation/edits.h"
#include "tests/simulation/forger.h"
#include "tests/simulation/free_slots.h"
#include "tests/simulation/history_rules.h"
#include "tests/simulation/identity_rules.h"
#include "tests/simulation/late_alerts.h"
#include "tests/simulation/notifier.h"
#include "tests/simulation/operands.h"
#include "tests/simulation/pair_kubelets.h"
#include "tests/simulation/pods.h"
#include "tests/simulation/replica.h"
#include "tests/simulation/reports.h"
#include "tests/simulation/restores.h"
#include "tests/simulation/silences.h"
#include "tests/simulation/silent_nodes.h"
#include "tests/simulation/sinks.h"
#include "tests/simulation/source_rules.h"
#include "tests/simulation/step_kubelets.h"
#include "tests/simulation/torn_jobs.h"

namespace gpuward::remediator::simulation {

class World {
 public:
  World(std::uint64_t seed, Size size, Sabotage sabotage, Keeps keeps = Keeps::kNothing);
  // Throws Broken.
  void run();
  [[nodiscard]] const Trace& trace() const { return stage_.trace; }
  [[nodiscard]] const std::vector<Written>& writes() const { return stage_.writes; }
  // The present API server.
  [[nodiscard]] fakes::FakeKube& kube() { return stage_.kube; }

 private:
  // The busy time.
  void do_something();
  void reconcile_something();
  void interrupt(std::size_t by);
  void stall(std::size_t by, std::chrono::milliseconds span);
  void wait_in_call(std::chrono::milliseconds span);
  void let_others_lead(std::size_t by, std::chrono::milliseconds span);
  void go_on(std::size_t replica);
  void go_on_all();
  void stop(std::size_t replica);
  void restore_perhaps();
  void pass_time();
  void change_nodes_under_drains();
  void change_nodes_under_jobs(double how_often);
  bool restart_before_reset();
  void race();
  void jump_clock();
  [[nodiscard]] Absences::World absences_world();
  void start(std::size_t replica);
  void reconcile(std::size_t replica, std::string node);
  [[nodiscard]] bool deliver(std::size_t replica, const AlertSignal& signal);
  bool poll_alertmanager();
  void say_what_is_new();
  void check();
  void check_leaders() const;
  // The quiet time.
  void calm_down();
  void settle(std::chrono::minutes time);
  void close_after_restore();
  void stay_at_rest();
  void check_operands();
  void hear_all();
  void look_quietly(std::size_t who, const std::string& node);
  [[nodiscard]] bool has_leader() const;
  [[nodiscard]] bool reconcile_next(Clock::Steady until);
  bool pass_until(Clock::Steady at);
  void sleep_until(Clock::Steady at);
  // On that node; on any node if the name is empty.
  [[nodiscard]] bool is_under_way(const std::string& node = {}) const;
  [[nodiscard]] bool waits_for_verification() const;
  [[nodiscard]] bool waits_for_time() const;
  void check_rest() const;
  void check_in_time() const;
  void check_quarantined(const Machine& machine, Severity severity) const;
  void check_returned(const Machine& machine) const;

  [[nodiscard]] StepAction* step(Step step);

  Stage stage_;
  Fleet fleet_{stage_};
  Humans humans_{stage_};
  Care care_{stage_};
  Edits edits_{stage_};
  Invariants invariants_{stage_, humans_};
  IdentityRules identity_{stage_};
  SilentNodes silent_{stage_, fleet_};
  Cloud cloud_{stage_, fleet_, silent_, invariants_,
               [this](std::chrono::milliseconds span) { wait_in_call(span); }};
  Reports reports_{stage_, fleet_};
  FreeSlots free_slots_;
  Silences silences_{stage_, fleet_};
  AnsweringPlaces places_{stage_, fleet_};
  SourceRules sources_{stage_, fleet_, places_};
  Forger forger_;
  Restores restores_;
  TornJobs torn_jobs_{stage_, invariants_};
  ScriptedDrain drain_{stage_, invariants_, torn_jobs_};
  Notifier notifier_{stage_, fleet_};
  LateAlerts late_{stage_, fleet_, silences_};
  HistoryRules history_{stage_, fleet_};
  Told told_{stage_};
  Announcements announcements_{stage_, fleet_, invariants_.announced(), told_};
  Drills drills_{stage_, fleet_, invariants_.drills()};
  Sinks sinks_{stage_};
  Absences absences_{stage_, absences_world()};
  PairKubelets pair_kubelets_{stage_};
  StepKubelets step_kubelets_{stage_, fleet_, invariants_.calls()};
  SimulatedOperands operands_{stage_, fleet_};
  Pods pods_{stage_};
  std::vector<std::unique_ptr<Replica>> replicas_;
  int lives_ = 0;  // number of processes so far
  int depth_ = 0;
  int restarts_ = 0, moves_ = 0;  // in the quiet time
  Clock::Wall calm_at_;
  std::size_t calm_since_ = 0;                            // number of changes of the truth
  std::size_t checked_ = 0;                               // number of changes of the truth
  std::map<std::string, std::chrono::seconds> patience_;  // time between quiet looks, by node
};

}  // namespace gpuward::remediator::simulation
