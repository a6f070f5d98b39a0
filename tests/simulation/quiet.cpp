// The quiet time of a World: nothing fails any more, and everything must come to rest.
#include <algorithm>
#include <utility>

#include "remediator/model/history_alerts.h"
#include "tests/simulation/view_rules.h"
#include "tests/simulation/world.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// The simulation repeats a look that changes nothing only after this wait. A round is long enough
// for several looks at each node.
constexpr seconds kFirstWait{20};
constexpr minutes kRound{16}, kLongestWait{12}, kSoonWait{1};
// Time between two bookmarks of a watch without changes.
constexpr seconds kBookmark{20};
// How long a broken machine may stay in service without a notification, while nothing fails.
constexpr minutes kInTime{2 * kRound};
constexpr std::size_t kMostToSettle = 200;  // writes, per machine
constexpr std::size_t kMostWrites = 3;      // writes of one Remediation at rest, in an hour
constexpr std::size_t kMostToForget =
    2;  // writes of one that is closed: its finalizer, and its deletion
constexpr std::size_t kMostToEvict = 2;  // writes of one pod that is not evicted: sent, and refused
constexpr std::size_t kMostSteps = 60;   // writes if it continues with its steps, with its pods

bool waits_for_somebody(Phase phase) {
  return phase == Phase::kObserved || phase == Phase::kQuarantined || phase == Phase::kWaiting ||
         phase == Phase::kHeld || phase == Phase::kPaused;
}

bool is_read(const Machine& machine) {
  return !machine.silence.is_down && !machine.silence.is_unread;
}

// The annotation on the node belongs to another writer, and the taint has no budget; gpuward has
// notified both.
bool is_held_untainted(const RemediationStatus& status) {
  return status.rule == kOwnershipRule &&
         status.message.contains("the node gets no taint or cordon");
}

}  // namespace

void World::calm_down() {
  stage_.is_quiet = true;
  forger_.stop();
  if (stage_.chance.happens(0.7)) replicas_.resize(1);
  stage_.silenced.clear();
  care_.stop();
  if (stage_.stopped_at) stage_.turn_switch(false);
  if (stage_.truth.ledger().breaker.open && stage_.chance.happens(0.7)) stage_.close_breaker();
  stage_.clock.jump_wall(-stage_.jumped);
  stage_.jumped = {};
  stage_.clock.advance(minutes(6));  // the API server asks for no longer wait
  silent_.settle();
  fleet_.settle();
  announcements_.settle();
  drills_.settle();
  stage_.trace.say("quiet");
  hear_all();
  while (notifier_.send_one([&](const AlertSignal& signal) { return deliver(0, signal); })) {
    if (stage_.restores > 0) {  // a process that restarts accepts no alert before
      stage_.clock.advance(seconds(2));
      go_on_all();
    }
    hear_all();
  }
  announcements_.on_calm();
  notifier_.forget_what_was_said();
  calm_since_ = stage_.truth.changes().size();
  calm_at_ = stage_.clock.wall();
}

void World::hear_all() {
  for (const auto& replica : replicas_) replica->hear(stage_.truth.changes().size());
}

bool World::has_leader() const {
  return std::ranges::any_of(replicas_, [](const auto& replica) { return replica->leads(); });
}

// Runs the next due look of all replicas, or the machines' next event before it; false if nothing
// is due.
bool World::reconcile_next(Clock::Steady until) {
  go_on_all();
  if (!has_leader()) {
    stage_.clock.advance(seconds(2));
    return stage_.clock.steady() < until;
  }
  std::size_t who = replicas_.size();
  Clock::Steady due = until;
  std::optional<std::string> next;
  for (std::size_t i = 0; i < replicas_.size(); ++i) {
    for (const auto& [node, at] : replicas_[i]->due()) {
      if (at >= due) continue;
      due = at;
      next = node;
      who = i;
    }
  }
  auto back = fleet_.next_return();
  if (const auto cloud = announcements_.next()) back = std::min(back.value_or(*cloud), *cloud);
  if (const auto silence = silent_.next()) back = std::min(back.value_or(*silence), *silence);
  if (const auto drill = drills_.next()) back = std::min(back.value_or(*drill), *drill);
  const bool is_machine = back && *back < due;
  const Clock::Steady at = is_machine ? *back : due;
  if (!pass_until(at)) return true;
  if (is_machine) {
    fleet_.come_back();
    announcements_.go_on();
    if (silent_.go_on()) calm_at_ = stage_.clock.wall();
    drills_.go_on();
    return true;
  }
  if (!next) return false;
  pair_kubelets_.end_all();
  pods_.end_all();
  step_kubelets_.end_all();
  operands_.end_all();
  torn_jobs_.end_all();
  go_on_all();  // renews the leases, as happens all the time
  look_quietly(who, *next);
  return true;
}

// The sources of alerts are read meanwhile, and the leader checks the machines with a history.
// Returns false if a look is due before `at`.
bool World::pass_until(Clock::Steady at) {
  const bool has_history = std::ranges::any_of(stage_.truth.remediations(), [](const auto& known) {
    return known.second.open() && std::ranges::any_of(known.second.alerts, is_of_history);
  });
  const bool is_asked =
      stage_.setting.asks_others() || late_.loses_ends() || silent_.next() || has_history;
  const auto is_any_due = [&] {
    return std::ranges::any_of(replicas_, [&](const auto& replica) {
      return std::ranges::any_of(
          replica->due(), [&](const auto& due) { return due.second <= stage_.clock.steady(); });
    });
  };
  while (is_asked && at - stage_.clock.steady() > minutes(1)) {
    sleep_until(stage_.clock.steady() + minutes(1));
    go_on_all();
    (void)poll_alertmanager();
    if (is_any_due()) return false;
  }
  sleep_until(at);
  return true;
}

// Watches continue meanwhile, and send only bookmarks.
void World::sleep_until(Clock::Steady at) {
  const auto span = at - stage_.clock.steady();
  if (span <= span.zero()) return;
  stage_.watched += std::max(span.zero(), span - kBookmark);
  stage_.clock.advance(span);
}

void World::look_quietly(std::size_t who, const std::string& node) {
  const std::size_t before = stage_.truth.changes().size();
  reconcile(who, node);
  auto& patience = patience_.try_emplace(node, kFirstWait).first->second;
  if (before != stage_.truth.changes().size()) {
    invariants_.requests().on_looked(node, true, {});
    patience = kFirstWait;
    return;
  }
  const auto again = replicas_[who]->due().find(node);
  if (again == replicas_[who]->due().end()) return;
  invariants_.requests().on_looked(
      node, false,
      std::chrono::floor<std::chrono::milliseconds>(again->second - stage_.clock.steady()));
  again->second = std::max(again->second, stage_.clock.steady() + patience);
  // The clock of a step counts the time between two looks only if it is short.
  const bool is_soon =
      announcements_.is_announced(node) || silent_.is_silent(node) || is_under_way(node);
  patience = std::min<seconds>(3 * patience, is_soon ? kSoonWait : kLongestWait);
}

void World::say_what_is_new() {
  notifier_.say_what_is_new([&](const AlertSignal& signal) {
    const bool is_lost = !signal.firing && late_.loses_ends();
    return is_lost || deliver(0, signal);
  });
}

void World::settle(minutes time) {
  const Clock::Steady end = stage_.clock.steady() + time;
  std::size_t deletions = stage_.deletions;
  bool are_any_deleted = false;
  // A step that has just begun runs to its end, because the window of a budget may just be over.
  // The Alertmanager repeats the alert of a deleted record.
  const auto goes_on = [&] {
    return stage_.clock.steady() < end + minutes(60) && (is_under_way() || are_any_deleted);
  };
  // Each round has the looks of one periodic resync.
  while (stage_.clock.steady() < end || goes_on()) {
    const std::size_t before = stage_.truth.changes().size();
    const Clock::Steady until = stage_.clock.steady() + kRound;
    for (const auto& replica : replicas_) replica->resync();
    do {
      say_what_is_new();
      (void)poll_alertmanager();
      hear_all();
      check();
      const std::size_t written = stage_.truth.changes().size() - calm_since_;
      require(written <= kMostToSettle * (fleet_.machines().size() + 1), "livelock",
              std::to_string(written) + " writes, and no end");
    } while (reconcile_next(until));
    // An Alertmanager repeats its alerts, also for a node whose Remediation was deleted, and for a
    // node that could confirm nothing while it was silent.
    are_any_deleted = deletions != std::exchange(deletions, stage_.deletions);
    if (are_any_deleted || stage_.setting.falls_silent) notifier_.forget_what_was_said();
    if (!are_any_deleted) check_in_time();
    if (before != stage_.truth.changes().size() || is_under_way() || waits_for_verification() ||
        announcements_.is_any_left() || silent_.next() || drills_.is_any_left() ||
        operands_.is_any_left())
      continue;
    if (!stage_.setting.says_late && !stage_.setting.asks_others()) return;
    // An alert that was ignored because its end was just over is repeated; an absent alert has
    // ended.
    const Clock::Steady later = stage_.clock.steady() + minutes(6);
    while (!pass_until(later)) {
    }
    go_on_all();
    notifier_.forget_what_was_said();
    say_what_is_new();
    (void)poll_alertmanager();
    hear_all();
    if (before == stage_.truth.changes().size()) return;
  }
}

// A step that is under way ends by its time-out at the latest, perhaps after many quiet rounds.
bool World::is_under_way(const std::string& node) const {
  return std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const bool is_meant = node.empty() || known.second.node == node;
    return is_meant && known.second.open() && !waits_for_somebody(known.second.status.phase);
  });
}

// The first look does not verify a machine with a history. Only the slow round finds that taint and
// cordon are explained again, by a report from after the start of their alert; a clock that was
// ahead may have put that start into the future. The slow round is due within a round of its last
// one, and runs at the latest when the next round begins. So the third round ends after a slow
// round with such a report.
bool World::waits_for_verification() const {
  const bool is_history = std::ranges::any_of(fleet_.machines(), [&](const Machine& machine) {
    return machine.works() && is_read(machine) && identity_.is_to_be_verified(machine);
  });
  if (is_history) return true;
  const Clock::Wall since = stage_.clock.wall() - 3 * kRound;
  return std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
    const Remediation& one = known.second;
    return one.open() && std::ranges::any_of(one.alerts, [&](const AlertEvidence& alert) {
             const bool is_its = rests_on_history(one) || alert.alertname == kOrphanedAlert;
             return is_its && alert.firing() && alert.starts_at > since;
           });
  });
}

// A Remediation continues by itself once the window of a budget is over or a node is old enough.
bool World::waits_for_time() const {
  return std::ranges::any_of(stage_.truth.remediations(), [](const auto& known) {
    const RemediationStatus& status = known.second.status;
    const bool waits = status.rule == "budget.terminate" || status.rule == "budget.window" ||
                       status.rule == "wait.delay" || status.rule == "cooldown" ||
                       status.message.contains("is younger than");
    return known.second.open() && waits;
  });
}

// An operator has checked what was done since the backup.
void World::close_after_restore() {
  if (stage_.restores == 0 || !stage_.truth.ledger().breaker.open) return;
  stage_.trace.say("human: close the breaker");
  stage_.close_breaker();
  settle(minutes(300));
  check_rest();
}

void World::stay_at_rest() {
  const std::size_t before = stage_.truth.changes().size();
  const auto open = static_cast<std::size_t>(std::ranges::count_if(
      stage_.truth.remediations(), [](const auto& known) { return known.second.open(); }));
  const Retention& kept = stage_.setting.policy.retention;
  const std::size_t closed = stage_.truth.remediations().size() - open;
  const std::size_t too_many = closed - std::min(closed, static_cast<std::size_t>(kept.most));
  const std::size_t forgotten = kept.age < std::chrono::hours(24) ? closed : too_many;
  // The step for a machine that is down continues once other silent machines are proven down.
  const std::size_t most =
      kMostToForget * forgotten + (stage_.setting.falls_silent
                                       ? (open + fleet_.machines().size()) * kMostSteps
                                       : open * (waits_for_time() ? kMostSteps : kMostWrites));
  const std::size_t refused_before = stage_.refused_evictions;
  settle(minutes(60));
  const std::size_t written = stage_.truth.changes().size() - before;
  const std::size_t refused = stage_.refused_evictions - refused_before;
  require(written <= most + kMostToEvict * refused, "livelock",
          std::to_string(written) + " writes in an hour of rest, with " + std::to_string(open) +
              " open");
}

void World::check_operands() {
  for (int round = 0; round < 3; ++round) {
    stage_.clock.advance(minutes(2));
    go_on_all();
    hear_all();
  }
  operands_.check_rest();
}

void World::check_rest() const {
  invariants_.marks().check_rest();
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    const RemediationStatus& status = remediation.status;
    if (!remediation.open()) continue;
    require(waits_for_somebody(status.phase), "rest",
            name + " is " + std::string(to_string(status.phase)) + ": " + status.message);
    require(!status.message.empty(), "rest", name + " does not say why");
    invariants_.ends().check_held(remediation);
    const bool is_for_a_human = needs_operator(status.phase) || is_left_in_service(status);
    require(!is_for_a_human || told_.knows(name, status.phase), "told",
            name + " needs a human and nobody was told");
  }
  late_.check_rest();
  sinks_.check_rest();
  torn_jobs_.check_rest();
  for (const auto& replica : replicas_) {
    check_view(stage_, replica->view(), replica->name());
    invariants_.restore().check_rest(replica->identity());
  }
  for (const Machine& machine : fleet_.machines()) {
    if (machine.works() && machine.fault >= Severity::kReset)
      check_quarantined(machine, machine.fault);
    if (machine.works()) sources_.check_known(machine, calm_at_, minutes(0));
    if (machine.works()) sources_.check_lines(machine);
    if (machine.works()) invariants_.announced().check_rest(machine);
    if (machine.works()) silent_.check_rest(machine, replicas_.front()->view());
    for (const auto& [name, remediation] : stage_.truth.remediations()) {
      const bool is_of_it = machine.works() && remediation.node == machine.name;
      if (is_of_it) invariants_.evidence().check_rest(remediation, machine);
    }
    if (machine.works()) check_returned(machine);
    if (machine.works() && is_read(machine)) identity_.check_rest(machine);
  }
}

// A given-up machine that has come back is tainted, unless an operator or the policy says
// otherwise.
void World::check_returned(const Machine& machine) const {
  const NodeTruth& truth = *stage_.truth.node(machine.name);
  invariants_.ends().check_known(truth);
  const auto policy = stage_.meant_for(truth.node);
  if (exclusion_of(*policy, truth.node)) return;
  for (const auto& [name, remediation] : stage_.truth.remediations()) {
    const bool is_about_it = remediation.open() && remediation.node_uid == truth.node.meta.uid &&
                             rests_on_history(remediation) &&
                             !steps_for(*policy, remediation.acted_severity()).empty();
    if (!is_about_it || remediation.wish.pause || remediation.status.phase == Phase::kPaused)
      continue;
    // A notification is enough, also one about an annotation without an explanation.
    const RemediationStatus& status = remediation.status;
    const bool is_unexplained = status.phase == Phase::kHeld && status.rule == kOwnershipRule;
    if (is_left_in_service(status) || is_unexplained) continue;
    require(truth.is_tainted, "returned", name + " is open and its node is not tainted");
  }
}

// Checks at the end of a round, while other steps may still run.
void World::check_in_time() const {
  for (const Machine& machine : fleet_.machines()) {
    if (machine.works()) sources_.check_known(machine, calm_at_, kInTime);
    if (!machine.works() || machine.fault < Severity::kReset) continue;
    const NodeTruth& truth = *stage_.truth.node(machine.name);
    const Alert& alert = machine.alerts.at(machine.fault);
    const Clock::Wall since =
        std::max({calm_at_, alert.starts_at, truth.node.meta.created.value_or(WallTime())});
    if (alert.is_firing && stage_.clock.wall() - since >= kInTime)
      check_quarantined(machine, machine.fault);
  }
}

// A broken node is tainted, or cordoned by gpuward if the taint has no budget, unless an operator
// or the policy says otherwise, or gpuward notified an operator that it is not.
void World::check_quarantined(const Machine& machine, Severity severity) const {
  // No report can confirm the kept alerts of a silent machine; silent_ checks those. The same holds
  // for a machine that Prometheus does not read in a partition, until that has healed.
  const SilentState& silence = machine.silence;
  const bool is_silent = silence.is_down || (silence.is_cut_off && silence.is_unread);
  if (is_silent || (silence.is_unread && silent_.is_partitioned())) return;
  const NodeTruth& truth = *stage_.truth.node(machine.name);
  const auto policy = stage_.meant_for(truth.node);
  if (exclusion_of(*policy, truth.node) || steps_for(*policy, severity).empty()) return;
  const bool is_left_alone =
      std::ranges::any_of(stage_.truth.remediations(), [&](const auto& known) {
        const Remediation& remediation = known.second;
        if (IdentityRules::is_cancelled(remediation, truth.node)) return true;
        const RemediationStatus& status = remediation.status;
        const bool is_left = is_left_in_service(status) || is_held_untainted(status);
        const bool is_cordoned = status.has_done(Step::kCordon) && truth.node.unschedulable;
        return remediation.node_uid == truth.node.meta.uid &&
               ((remediation.open() && is_cordoned) || remediation.status.phase == Phase::kPaused ||
                (is_left && told_.knows(known.first, status.phase)) ||
                remediation.status.phase == Phase::kCancelled || remediation.wish.pause ||
                steps_for(*policy, remediation.acted_severity()).empty());
      });
  require(is_left_alone || truth.is_tainted, "quarantined",
          machine.name + " is broken, its alert fires, and it is not tainted");
}

}  // namespace gpuward::remediator::simulation
