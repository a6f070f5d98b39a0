#include "tests/simulation/setting.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::minutes;

// Shorter than the defaults: the simulation runs every look of a wait.
PlannedStep quick(Step step) {
  PlannedStep plan = planned(step);
  if (step == Step::kReboot) plan.timeout = minutes(5);
  if (step == Step::kTerminate) plan.timeout = minutes(10);
  if (step == Step::kVerify) {
    plan.timeout = minutes(6);
    plan.soak = minutes(1);
  }
  return plan;
}

PlannedStep with_wait(PlannedStep step, Chance& chance) {
  step.before.approval = chance.happens(0.25);
  if (chance.happens(0.2)) step.before.delay = chance.span(minutes(0), minutes(3));
  return step;
}

PlannedStep draw_end(Chance& chance) {
  PlannedStep end = with_wait(quick(Step::kTerminate), chance);
  end.volumes = {.deadline = chance.span(minutes(1), minutes(6)), .proceeds = chance.happens(0.4)};
  return end;
}

// The end of a machine, and perhaps the wait for its replacement.
void add_end(std::vector<PlannedStep>& plan, Chance& chance) {
  plan.push_back(draw_end(chance));
  if (chance.happens(0.6)) plan.push_back(quick(Step::kVerify));
}

// Absolute numbers only, so that the invariants need no census.
BudgetLimits draw_budgets(Chance& chance, Size size) {
  constexpr Share kNever{100'000, 0};
  const int scale = size == Size::kThousands ? 10 : 1;
  const auto some = [&](int most) { return Share{scale * chance.between(1, most), 0}; };
  BudgetLimits budgets;
  budgets.cluster = {.at_once = some(4)};
  if (chance.happens(0.3)) budgets.cluster.windows = {{some(4), std::chrono::hours(2)}};
  budgets.pool = {.at_once = some(3)};
  budgets.zone = {.at_once = some(3)};
  budgets.labels = {{"rack", {.at_once = {1, 0}}}};
  budgets.tainted = kNever;
  budgets.cordoned = some(4);
  if (chance.happens(0.5)) budgets.terminations = {{some(2), std::chrono::hours(1)}};
  budgets.storm.share = chance.happens(0.15) ? Share{chance.between(3, 6), 0} : kNever;
  budgets.breaker.share = chance.happens(0.3) ? Share{chance.between(1, 6), 0} : kNever;
  return budgets;
}

int draw_nodes(Chance& chance, Size size) {
  if (size == Size::kThousands) return 2000;
  const std::size_t kind = chance.weighted({60, 30, 8, 2});
  if (kind == 0) return chance.between(1, 3);
  if (kind == 1) return chance.between(4, 8);
  return kind == 2 ? chance.between(9, 16) : chance.between(17, 40);
}

}  // namespace

Policy draw_policy(Chance& chance) {
  Policy policy;
  policy.mode = std::array{Mode::kObserve, Mode::kTaint, Mode::kCordon,
                           Mode::kFull}[chance.weighted({3, 5, 12, 80})];
  std::vector<PlannedStep> marks = {quick(Step::kTaint), quick(Step::kCordon)};
  auto drained = marks;
  drained.push_back(with_wait(quick(Step::kDrain), chance));
  auto rebooted = drained;
  rebooted.push_back(with_wait(quick(Step::kReboot), chance));
  rebooted.push_back(quick(Step::kVerify));
  if (chance.happens(0.8)) rebooted.push_back(quick(Step::kReturn));
  policy.steps[Severity::kReset] = chance.happens(0.3) ? rebooted : marks;
  policy.steps[Severity::kReboot] = chance.happens(0.9) ? rebooted : drained;
  policy.steps[Severity::kIsolate] = chance.happens(0.7) ? drained : rebooted;
  if (chance.happens(0.6)) {
    policy.steps[Severity::kIsolate] = drained;
    add_end(policy.steps[Severity::kIsolate], chance);
  }
  if (chance.happens(0.1)) policy.steps[Severity::kIsolate].clear();
  policy.return_to_service.enabled = chance.happens(0.7);
  return policy;
}

namespace {

// Ends worn-out machines by a short plan; otherwise a short simulation has few ends.
void end_what_is_worn_out(Setting& setting, Chance& chance) {
  setting.events += 80;
  setting.policy.mode = Mode::kFull;
  auto& plan = setting.policy.steps[Severity::kIsolate];
  plan = {quick(Step::kTaint), quick(Step::kCordon), quick(Step::kDrain)};
  add_end(plan, chance);
}

}  // namespace

Setting draw_setting(Chance& chance, Size size) {
  Setting setting;
  setting.nodes = draw_nodes(chance, size);
  setting.replicas = chance.happens(0.4) ? 2 : 1;
  setting.events = size == Size::kThousands ? 1'500 : chance.between(30, 90 + 6 * setting.nodes);
  setting.fault = chance.one_of({0.0, 0.01, 0.05, 0.15});
  setting.crash = chance.one_of({0.0, 0.0, 0.01, 0.03});
  setting.interrupt = chance.one_of({0.0, 0.02, 0.1});
  setting.has_humans = chance.happens(0.7);
  setting.has_clock_jumps = chance.happens(0.2);
  setting.has_lies = chance.happens(0.7);
  setting.breaks_again = chance.happens(0.1);
  setting.has_alertmanager = chance.happens(0.6);
  setting.stall = chance.one_of({0.0, 0.0, 0.01, 0.04});
  setting.policy = draw_policy(chance);
  setting.policy.budgets = draw_budgets(chance, size);
  setting.wears_out = chance.happens(0.2);
  if (setting.wears_out) end_what_is_worn_out(setting, chance);
  return setting;
}

void let_pairs_be_tested(Setting& setting, Chance& chance) {
  if (setting.wears_out || setting.nodes > 16 || !chance.happens(0.25)) return;
  setting.tests_pairs = true;
  setting.nodes = chance.between(3, 6);
  setting.events += 120;
  Policy& policy = setting.policy;
  policy.mode = Mode::kFull;
  policy.jobs.image = "here/gpuward:1";
  PlannedStep pairs = planned(Step::kNcclPairs);
  pairs.timeout = chance.span(minutes(10), minutes(30));
  pairs.job.together = chance.span(minutes(10), minutes(60));
  for (const Severity severity : {Severity::kReboot, Severity::kIsolate}) {
    policy.steps[severity] = {quick(Step::kTaint), quick(Step::kCordon), quick(Step::kDrain)};
    policy.recovery[severity] = {pairs, quick(Step::kReturn)};
  }
  if (chance.happens(0.15)) return;
  const Share all{setting.nodes, 0};
  BudgetLimits& budgets = policy.budgets;
  budgets.cluster.at_once = budgets.pool.at_once = budgets.zone.at_once = budgets.cordoned = all;
  budgets.labels.front().limit.at_once = all;
}

void let_pods_be_drained(Setting& setting, Chance& chance) {
  if (setting.tests_pairs || setting.nodes > 16 || !chance.happens(0.5)) return;
  setting.has_pods = true;
  // So slow that most evictions wait for the rate while the simulation continues.
  if (chance.happens(0.6)) setting.evictions = {.per_second = 0.05, .burst = 1};
}

void let_others_race(Setting& setting, Chance& chance) {
  setting.has_late_races = (setting.has_pods || setting.has_jobs) && chance.happens(0.5);
}

void let_watches_die(Setting& setting, Chance& chance) {
  setting.dead_watch = chance.one_of({0.0, 0.0, 0.01, 0.05});
}

void let_watches_fail(Setting& setting, Chance& chance) {
  setting.watch_fault = chance.one_of({0.0, 0.0, 0.02, 0.1});
  setting.watches_differ = chance.happens(0.4);
}

void let_places_speak(Setting& setting, Chance& chance) {
  if (setting.tests_pairs || setting.nodes > 16 || !chance.happens(0.3)) return;
  Places& places = setting.places;
  places.polls = setting.has_alertmanager && chance.happens(0.8);
  places.prometheus = chance.happens(places.polls ? 0.2 : 0.8);
  if (places.polls) places.webhook_loss = chance.one_of({0.3, 1.0});
  if (places.prometheus && !places.polls) {  // the intended use: there is no Alertmanager
    places.webhook_loss = 1;
    setting.has_alertmanager = false;
  }
  places.foreign = chance.happens(0.5);
  places.conditions = chance.happens(0.5);
  places.logs = chance.happens(0.5);
  Policy& policy = setting.policy;
  if (places.foreign)
    policy.foreign_alerts = {{.match = {{"alertname", kForeignAlert}},
                              .node_label = "instance",
                              .severity = kForeignSeverity}};
  if (places.conditions) {
    ConditionRule& rule = policy.conditions.emplace_back();
    rule.type = kProblem;
    rule.held_for = chance.one_of({minutes(0), minutes(1)});
    rule.severity = chance.one_of({Severity::kReset, Severity::kReboot});
  }
  policy.loki.every = std::chrono::seconds(15);
  policy.loki.quiet_for = minutes(6);
}

void keep_what_stays(Policy& policy, const Setting& setting) {
  const Policy& first = setting.policy;
  policy.budgets = first.budgets;
  policy.jobs = first.jobs;
  policy.recovery = first.recovery;
  policy.foreign_alerts = first.foreign_alerts;
  policy.conditions = first.conditions;
  policy.loki = first.loki;
  policy.silent = first.silent;
  policy.maintenance = first.maintenance;
  policy.machines = first.machines;
  policy.notifications = first.notifications;
  policy.retention = first.retention;
}

}  // namespace gpuward::remediator::simulation
