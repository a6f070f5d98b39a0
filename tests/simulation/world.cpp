#include "tests/simulation/world.h"

#include <algorithm>

namespace gpuward::remediator::simulation {
namespace {

constexpr int kMostRestarts = 2, kMostMoves = 6;  // in the quiet time, which has to end

}  // namespace

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

World::World(std::uint64_t seed, Size size, Sabotage sabotage, Keeps keeps)
    : stage_(seed, size, sabotage, keeps),
      forger_(stage_, seed + 0x666f7267),
      restores_(stage_, fleet_, invariants_, seed + 0x72657374) {
  stage_.clock.advance(minutes(15));  // the nodes are not new
  replicas_.resize(static_cast<std::size_t>(stage_.setting.replicas));
  for (std::size_t i = 0; i < replicas_.size(); ++i) start(i);
}

StepAction* World::step(Step step) { return step == Step::kDrain ? &drain_ : nullptr; }

Absences::World World::absences_world() {
  return {.pass_a_while =
              [this] {
                pass_time();
                announcements_.go_on();
                (void)silent_.go_on();
                drills_.go_on();
                notifier_.notice();
              },
          .look =
              [this] {
                go_on_all();
                reconcile_something();
              },
          .start_all =
              [this] {
                for (std::size_t i = 0; i < replicas_.size(); ++i) start(i);
              }};
}

void World::start(std::size_t replica) {
  replicas_[replica] = std::make_unique<Replica>(
      stage_, invariants_,
      Outside{.reports = reports_,
              .cloud = cloud_,
              .slots = stage_.is_off(Sabotage::kBudgets) ? &free_slots_ : nullptr,
              .alerts = stage_.setting.has_alertmanager ? &silences_ : nullptr,
              .steps = [this](Step what) { return step(what); },
              .announcer = told_,
              .guard = &forger_,
              .scrapes = &silent_,
              .places = stage_.setting.asks_others() ? &places_ : nullptr,
              .sinks = stage_.setting.care.notifies ? &sinks_ : nullptr},
      "r" + std::to_string(replica), ++lives_,
      Meanwhile{.interrupt = [this, replica] { interrupt(replica); },
                .stall = [this, replica](milliseconds span) { stall(replica, span); }});
  if (stage_.is_off(Sabotage::kLedgerMemory)) stage_.forget_ledger();
}

void World::run() {
  for (int i = 0; i < stage_.setting.events; ++i) do_something();
  calm_down();
  settle(minutes(300));
  check_rest();
  if (stage_.setting.breaks_again) {
    fleet_.break_again();
    settle(minutes(300));
    check_rest();
  }
  if (stage_.setting.registers_anew && humans_.say_all_replaced()) {
    settle(minutes(300));
    check_rest();
  }
  close_after_restore();
  stay_at_rest();
  check_operands();
}

void World::do_something() {
  Chance& chance = stage_.chance;
  go_on_all();
  pods_.go_on();
  step_kubelets_.go_on();
  operands_.do_something();
  torn_jobs_.go_on();
  change_nodes_under_drains();
  change_nodes_under_jobs(0.04);
  forger_.do_something();
  care_.do_something();
  silent_.do_something();
  announcements_.do_something();
  drills_.do_something();
  absences_.do_something();
  places_.do_something();
  sources_.note_cursor();
  restore_perhaps();
  const std::size_t replica = chance.next() % replicas_.size();
  switch (
      chance.weighted({30, 12, 10, 10, 12, stage_.setting.has_humans ? 6 : 0, 1,
                       stage_.setting.has_clock_jumps ? 1 : 0, 8,
                       stage_.setting.tests_pairs ? 12 : 0, stage_.setting.has_edits ? 9 : 0})) {
    case 0:
      reconcile_something();
      break;
    case 1:
      replicas_[replica]->hear(static_cast<std::size_t>(chance.between(1, 20)));
      break;
    case 2:
      notifier_.notice();
      break;
    case 3:
      (void)notifier_.send_one([&](const AlertSignal& signal) { return deliver(replica, signal); });
      break;
    case 4:
      fleet_.change_one();
      notifier_.notice();
      break;
    case 5:
      humans_.do_something();
      break;
    case 6:
      stage_.trace.say("r" + std::to_string(replica) + " is started anew");
      if (chance.happens(0.5)) stop(replica);
      start(replica);
      break;
    case 7:
      jump_clock();
      break;
    case 8:
      pass_time();
      break;
    case 9:
      pair_kubelets_.go_on();
      break;
    default:
      edits_.do_something();
  }
  late_.say_something([&](const AlertSignal& signal) {
    return deliver(stage_.late_chance.next() % replicas_.size(), signal);
  });
  check();
}

// A drained node's name goes to another Node, on another machine or on the same.
void World::change_nodes_under_drains() {
  Chance& chance = stage_.pods_chance;
  if (!stage_.setting.has_pods || !chance.happens(0.08)) return;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    Machine* const machine = fleet_.find(remediation.node);
    const bool is_drained = remediation.open() && remediation.status.phase == Phase::kDraining;
    if (!is_drained || machine == nullptr || !machine->works()) continue;
    return chance.happens(0.5) ? fleet_.replace(*machine) : fleet_.register_anew(*machine);
  }
}

// A machine restarts between the intent of its reset and the Job.
bool World::restart_before_reset() {
  if (!stage_.setting.has_jobs) return false;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    const StepRecord* const reset = remediation.status.find(Step::kGpuReset);
    Machine* const machine = fleet_.find(remediation.node);
    const bool is_intended = reset != nullptr && reset->result == StepResult::kIntended;
    if (!is_intended || machine == nullptr || !machine->works()) continue;
    if (!stage_.jobs_chance.happens(0.5)) continue;
    fleet_.boot_again(*machine);
    return true;
  }
  return false;
}

// A machine restarts by itself while a Job is on it, its Node is replaced, or an operator deletes
// the Remediation.
void World::change_nodes_under_jobs(double how_often) {
  Chance& chance = stage_.jobs_chance;
  if (!stage_.setting.has_jobs || !chance.happens(how_often)) return;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    Machine* const machine = fleet_.find(remediation.node);
    const Phase phase = remediation.status.phase;
    const bool has_job = phase == Phase::kCollecting || phase == Phase::kResetting ||
                         phase == Phase::kTesting ||
                         (phase == Phase::kRebooting && stage_.setting.restarts_by_job);
    if (!has_job || machine == nullptr || !machine->works()) continue;
    const std::size_t how = chance.weighted({60, 15, 15, 10});
    if (how == 0) return fleet_.boot_again(*machine);
    if (how == 3 && stage_.setting.has_edits) return edits_.delete_by_force(remediation);
    return how == 1 ? fleet_.register_anew(*machine) : fleet_.replace(*machine);
  }
}

void World::restore_perhaps() {
  Version heard = stage_.kube.revision();
  for (const auto& replica : replicas_) heard = std::min(heard, replica->heard());
  if (restores_.do_something(heard)) late_.forget_what_was_taken();
}

bool World::poll_alertmanager() {
  return late_.poll(replicas_.front()->known_to_fire(),
                    [&](const AlertSignal& signal) { return deliver(0, signal); });
}

void World::pass_time() {
  stage_.clock.advance(stage_.chance.span(seconds(1), seconds(90)));
  fleet_.come_back();
}

void World::jump_clock() {
  const auto by = stage_.jumped.count() != 0
                      ? -stage_.jumped
                      : stage_.chance.span(milliseconds(0), minutes(60)) - minutes(30);
  stage_.clock.jump_wall(by);
  stage_.jumped += by;
  stage_.trace.say("the clock jumps by " + std::to_string(by.count()) + " ms");
}

void World::stop(std::size_t replica) {
  try {
    replicas_[replica]->stop();
  } catch (const Crash&) {
  }
}

void World::go_on(std::size_t replica) {
  if (replicas_[replica]->is_busy()) return;
  try {
    replicas_[replica]->go_on();
  } catch (const Crash&) {
    return start(replica);
  }
  if (!replicas_[replica]->is_over()) return;
  stage_.trace.say(replicas_[replica]->name() + " begins anew");
  invariants_.restore().check_begins_anew(replicas_[replica]->identity());
  stop(replica);
  start(replica);
  if (stage_.is_quiet) replicas_[replica]->hear(stage_.truth.changes().size());
}

void World::go_on_all() {
  for (std::size_t i = 0; i < replicas_.size(); ++i) go_on(i);
}

// Reconciles a due node of one replica, after the time until it is due.
void World::reconcile_something() {
  const std::size_t replica = stage_.chance.next() % replicas_.size();
  auto& due = replicas_[replica]->due();
  if (due.empty()) return;
  auto next = due.begin();
  if (stage_.chance.happens(0.7)) {
    for (auto it = due.begin(); it != due.end(); ++it) {
      if (it->second < next->second) next = it;
    }
  } else {
    std::advance(next, stage_.chance.between(0, static_cast<int>(due.size()) - 1));
  }
  const auto wait = next->second - stage_.clock.steady();
  if (wait > minutes(2)) return;
  const std::string node = next->first;
  if (wait.count() > 0) stage_.clock.advance(wait);
  fleet_.come_back();
  reconcile(replica, node);
}

void World::reconcile(std::size_t replica, std::string node) {
  go_on(replica);
  try {
    replicas_[replica]->reconcile(std::move(node));
  } catch (const Crash&) {
    start(replica);
  }
}

bool World::deliver(std::size_t replica, const AlertSignal& signal) {
  try {
    const auto taken = replicas_[replica]->take(signal);
    stage_.trace.say("r" + std::to_string(replica) + ": alert " + signal.node + "/" +
                     std::string(to_string(signal.severity)) +
                     (signal.firing ? " fires" : " has ended") +
                     (taken ? taken->accepted > 0 ? ": accepted" : ": nothing new" : ": not now"));
    if (taken) late_.on_taken(signal);
    return taken.has_value();
  } catch (const Crash&) {
    start(replica);
    return false;
  }
}

// Others act on nodes on which a replica is about to act.
void World::race() {
  if (restarts_ < kMostRestarts && restart_before_reset()) ++restarts_;
  if (moves_ < kMostMoves && pods_.move_one()) ++moves_;
}

// Others act while replica `by` waits for the API server.
void World::interrupt(std::size_t by) {
  if (depth_ > 0) return;
  if (stage_.is_quiet) return race();
  ++depth_;
  stage_.trace.say("meanwhile:");
  pods_.go_on();
  step_kubelets_.go_on();
  torn_jobs_.go_on();
  change_nodes_under_drains();
  change_nodes_under_jobs(0.2);
  (void)restart_before_reset();
  restore_perhaps();
  care_.do_something();
  silent_.do_something();
  announcements_.do_something();
  drills_.do_something();
  const std::size_t other = stage_.chance.next() % replicas_.size();
  switch (stage_.chance.weighted(
      {50, 20, stage_.setting.has_humans ? 20 : 0, 10, 5, 5, stage_.setting.has_edits ? 10 : 0})) {
    case 0:
      if (other == by || replicas_[other]->is_busy()) break;
      replicas_[other]->hear(10);
      reconcile(other, stage_.looks.back()->subject);
      break;
    case 1:
      if (replicas_[other]->is_busy()) break;
      if (const Machine* const machine = fleet_.find(stage_.looks.back()->subject)) {
        notifier_.say_all(*machine,
                          [&](const AlertSignal& signal) { return deliver(other, signal); });
      }
      break;
    case 2:
      humans_.do_something();
      break;
    case 3:
      fleet_.change_one();
      break;
    case 4:
      if (Machine* const machine = fleet_.find(stage_.looks.back()->subject))
        fleet_.replace(*machine);
      break;
    case 5:  // a request may take longer than a lease lasts
      let_others_lead(by, stage_.chance.span(seconds(5), seconds(40)));
      break;
    default:
      edits_.do_something();
  }
  --depth_;
}

// Replica `by` stalls: the others find its lease expired and take it.
void World::stall(std::size_t by, milliseconds span) {
  if (depth_ > 0) return;
  ++depth_;
  let_others_lead(by, span);
  --depth_;
}

// The replica that is at work waits for the cloud.
void World::wait_in_call(milliseconds span) {
  if (depth_ > 0) return stage_.clock.advance(span);
  const auto caller = std::ranges::find(replicas_, stage_.looks.back()->who,
                                        [](const auto& replica) { return replica->name(); });
  stall(static_cast<std::size_t>(caller - replicas_.begin()), span);
}

void World::let_others_lead(std::size_t by, milliseconds span) {
  const std::size_t other = (by + 1) % replicas_.size();
  const Clock::Steady end = stage_.clock.steady() + span;
  while (stage_.clock.steady() < end) {
    stage_.clock.advance(seconds(2));
    if (other == by) continue;
    go_on(other);
    if (replicas_[other]->is_busy() || !replicas_[other]->leads()) continue;
    replicas_[other]->hear(10);
    auto& due = replicas_[other]->due();
    if (!due.empty()) reconcile(other, due.begin()->first);
  }
}

void World::check_leaders() const {
  const auto leaders =
      std::ranges::count_if(replicas_, [](const auto& replica) { return replica->leads(); });
  require(leaders <= 1, "two-leaders", std::to_string(leaders) + " replicas lead");
}

void World::check() {
  if (checked_ == stage_.truth.changes().size()) return;
  checked_ = stage_.truth.changes().size();
  check_leaders();
  invariants_.ledger().check_budgets();
  invariants_.taints().check_budget();
  invariants_.marks().check_always();
  silent_.check_off();
}

}  // namespace gpuward::remediator::simulation
