#include "remediator/workflow/reconciler.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/kube/names.h"
#include "core/runtime/clock.h"
#include "remediator/actions/action.h"
#include "remediator/policy/error_class.h"
#include "remediator/safety/konduktor_taint.h"
#include "remediator/safety/ledger.h"
#include "remediator/safety/node_mark.h"
#include "remediator/workflow/conditions.h"
#include "remediator/workflow/milestones.h"
#include "remediator/workflow/notices.h"
#include "remediator/workflow/status_change.h"
#include "remediator/workflow/step_order.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// The API server says no and will say no again until somebody changes something.
bool is_permanent(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kRefused;
}

std::string_view action_of(Verdict verdict) {
  if (verdict == Verdict::kQuarantine) return "quarantine";
  if (verdict == Verdict::kRelease) return "release";
  return {};
}

bool needs_attention(Phase phase) { return phase == Phase::kQuarantined || needs_human(phase); }

// As it was when the Remediation was opened.
kube::Node remembered_node(const Remediation& remediation) {
  kube::Node node;
  node.meta.name = remediation.node;
  node.meta.uid = remediation.node_uid;
  node.boot_id = remediation.boot_id;
  node.provider_id = remediation.instance_id;
  return node;
}

// What the kernel has said, and the class of the error: for people to read.
void note_evidence(const HealthReport& report, RemediationStatus& status) {
  status.kernel_severity = report.kernel_severity;
  if (is_milder_class(status.error_class, report.error_class))
    status.error_class = report.error_class;
}

// Before anything is taken away for them: what was tried on a GPU goes where the GPU goes.
void remember_gpus(const Result<HealthReport>& report, Remediation& remediation) {
  if (!report || report->boot_id != remediation.boot_id) return;
  std::vector<std::string>& known = remediation.status.gpus;
  for (const std::string& gpu : report->gpus) {
    const bool is_known = std::ranges::find(known, gpu) != known.end();
    if (!is_known && known.size() < kMaxSerials) known.push_back(gpu);
  }
}

// As the resource has it; empty where there is none.
std::string intent_of(const StepRecord* record) {
  return record == nullptr || !record->intent_at ? "" : to_rfc3339_ms(*record->intent_at);
}

// No decision asks for more than a report, the alerts and a slot.
constexpr int kMostAnswers = 4;
// How old the list of exclusions may be where nothing is taken away from anybody.
constexpr milliseconds kExclusionAge{15'000};
// Of a step that goes on, how often what it says of itself is written; and of all of them, so that
// hundreds of drains leave the API server to their evictions.
constexpr milliseconds kBetweenWords{5'000};
constexpr milliseconds kBetweenWordsOfAll{200};
// How soon a stop that was lifted is noticed.
constexpr milliseconds kStopInterval{5'000};
// How soon it is noticed that a step need not wait any longer.
constexpr milliseconds kObstacleInterval{10'000};
// How long a node that went bad at the same moment may take to be tainted.
constexpr milliseconds kMarksFirst{30'000};
// How soon a node whose words wait for others is looked at again.
constexpr milliseconds kStormInterval{1'000};
// How soon after an act its node's report is looked at.
constexpr milliseconds kWeighAfter{5'000};

// Whether what the informers have last seen is enough to go by: every write that follows is a
// compare-and-set on it, and an eviction of a drain that goes on asks again before it is sent.
// Whatever else takes something away from somebody, or gives it back, is decided on what is true
// now.
bool may_go_by_memory(const Decision& decision) {
  switch (decision.verdict) {
    case Verdict::kRecord:
    case Verdict::kQuarantine:
    case Verdict::kHold:
    case Verdict::kWatch:
      return true;
    case Verdict::kAskSlot:
      return is_mark(decision.step->step);
    case Verdict::kPause:
    case Verdict::kAskReport:
    case Verdict::kAskAlerts:
    case Verdict::kBegin:
    case Verdict::kEscalate:
    case Verdict::kRelease:
    case Verdict::kClose:
      return false;
  }
  return false;
}

}  // namespace

struct Reconciler::Case {
  Remediation remediation;
  std::optional<kube::Node> node;
  kube::Node target;  // the node, or what is remembered of it where it is gone or another one
  std::shared_ptr<const Policy> policy;
  Decision decision = {};
  std::optional<HandsOff> excluded = {};
  // Others went bad at the same moment and are not tainted yet: what is only good to know of this
  // one waits for them.
  bool is_in_storm = false;
  std::optional<HealthReport> report = {};  // where the decision asked for it
  bool has_asked_slot = false;
  bool is_remembered = false;  // out of the view, which may lag behind
};

Result<std::optional<milliseconds>> Reconciler::reconcile(const std::string& node) {
  std::optional<milliseconds> soonest;
  const auto policy = parts_.policy.get();
  for (const std::string& name : parts_.view.open_for(node)) {
    const auto look_again = reconcile_one(name, policy);
    if (!look_again) {
      distrust(name);
      return with_context("remediation " + name, look_again.error());
    }
    if (*look_again) soonest = std::min(soonest.value_or(**look_again), **look_again);
  }
  return soonest;
}

Result<std::optional<milliseconds>> Reconciler::reconcile_one(
    const std::string& name, const std::shared_ptr<const Policy>& policy) {
  if (auto now = recall(name, policy); now && look_up_exclusion(*now)) {
    now->decision = decide_with_answers(*now);
    if (may_go_by_memory(now->decision)) return go_on(*now);
  }
  auto now = read(name, policy);
  if (!now) return std::unexpected(now.error());
  if (!*now) return std::nullopt;
  if (!(*now)->remediation.open()) return see_off(**now);
  if (auto known = look_up_exclusion(**now); !known) return std::unexpected(known.error());
  (*now)->decision = decide_with_answers(**now);
  return go_on(**now);
}

// Before harm, when all is read afresh, as it is; else as it was a moment ago.
Status Reconciler::look_up_exclusion(Case& now) {
  if (parts_.exclusions == nullptr || !now.node) return {};
  const auto list =
      parts_.exclusions->read(now.is_remembered ? kExclusionAge : std::chrono::milliseconds(0));
  if (!list) return std::unexpected(list.error());
  now.excluded = exclusion_for(*list, *now.node, parts_.clock.wall());
  return {};
}

// A failure may come of a view that is old: the next look is at what is true.
void Reconciler::distrust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.insert(name);
}

// Both as they were last seen; nullopt where that is not enough to decide anything.
std::optional<Reconciler::Case> Reconciler::recall(const std::string& name,
                                                   std::shared_ptr<const Policy> policy) {
  {
    const std::lock_guard lock(mutex_);
    if (distrusted_.contains(name)) return std::nullopt;
  }
  auto remediation = parts_.view.last_remediation(name);
  if (!remediation || !remediation->open()) return std::nullopt;
  const auto node = parts_.view.last_node(remediation->node);
  if (!node) return std::nullopt;
  Case now = case_of(std::move(*remediation), *node, std::move(policy));
  now.is_remembered = true;
  return now;
}

// nullopt: the Remediation is gone.
Result<std::optional<Reconciler::Case>> Reconciler::read(const std::string& name,
                                                         std::shared_ptr<const Policy> policy) {
  auto remediation = parts_.store.read(name);
  if (!remediation) {
    if (remediation.error().kind != ErrorKind::kNotFound)
      return std::unexpected(remediation.error());
    parts_.view.remove_remediation(name);
    forget(name);
    return std::nullopt;
  }
  parts_.view.put_remediation(*remediation);
  if (!remediation->open()) {
    forget(name);
    return case_of(std::move(*remediation), std::nullopt, std::move(policy));
  }
  if (auto valid = kube::validate_node_name(remediation->node); !valid)
    return std::unexpected(valid.error());
  auto node = parts_.api.get_node(remediation->node);
  if (!node && node.error().kind != ErrorKind::kNotFound) return std::unexpected(node.error());
  trust(name);
  return case_of(std::move(*remediation), node ? std::optional(std::move(*node)) : std::nullopt,
                 std::move(policy));
}

void Reconciler::trust(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.erase(name);
}

void Reconciler::forget(const std::string& name) {
  const std::lock_guard lock(mutex_);
  distrusted_.erase(name);
  said_at_.erase(name);
}

Reconciler::Case Reconciler::case_of(Remediation remediation, std::optional<kube::Node> node,
                                     std::shared_ptr<const Policy> policy) {
  Case now{.remediation = std::move(remediation),
           .node = std::move(node),
           .target = {},
           .policy = std::move(policy)};
  if (now.node) now.policy = policy_for(std::move(now.policy), now.node->meta.labels);
  const bool is_same = now.node && now.node->meta.uid == now.remediation.node_uid;
  now.target = is_same ? *now.node : remembered_node(now.remediation);
  return now;
}

Result<std::optional<milliseconds>> Reconciler::go_on(Case& now) {
  if (auto counted = count_arrival(now); !counted) return std::unexpected(counted.error());
  const std::string seen = now.remediation.resource_version;
  if (auto status = carry_out(now); !status) return std::unexpected(status.error());
  if (!now.remediation.open()) {
    forget(now.remediation.name);
    // What a crash keeps from being given back here, the keeper of the ledger gives back later.
    if (auto status = parts_.slots.give_back(now.remediation); !status)
      parts_.observer.on_error(now.remediation.node, status.error());
    return see_off(now);
  }
  if (auto status = tell_human(now); !status) return std::unexpected(status.error());
  // What must be done about other nodes goes before what is only good to know of this one.
  const bool weighs_later =
      (now.remediation.resource_version != seen || now.is_in_storm) && weighs_evidence(now);
  if (!weighs_later) {
    if (auto status = weigh_evidence(now); !status) return std::unexpected(status.error());
  }
  // The first word has the class of the error in it, which the exporter knows.
  if (!weighs_later || !now.remediation.status.error_class.empty()) {
    if (auto status = tell_sinks(now); !status) return std::unexpected(status.error());
  }
  if (!weighs_later) return now.decision.look_again;
  return std::min(now.decision.look_again.value_or(kWeighAfter), kWeighAfter);
}

Result<std::optional<milliseconds>> Reconciler::see_off(Case& now) {
  if (auto status = tell_sinks(now); !status) return std::unexpected(status.error());
  return let_go(now.remediation);
}

Result<std::optional<milliseconds>> Reconciler::let_go(const Remediation& closed) {
  if (!closed.must_be_let_go()) return std::nullopt;
  const auto gone = parts_.store.let_go(closed);
  if (!gone && gone.error().kind != ErrorKind::kNotFound) return std::unexpected(gone.error());
  return std::nullopt;
}

// Before anything is done for it; said again until the first step is recorded. Who asks for a slot
// says it with that.
Status Reconciler::count_arrival(const Case& now) {
  if (now.has_asked_slot || now.policy->mode == Mode::kObserve || !is_arrival(now.remediation))
    return {};
  return parts_.slots.arrived(now.remediation);
}

Decision Reconciler::decide_with_answers(Case& now) {
  const WallTime since = parts_.clock.wall() - kMarksFirst;
  const bool has_unmarked = parts_.view.has_unmarked_since(since, now.remediation.node);
  now.is_in_storm = has_unmarked && now.remediation.status.phase != Phase::kPending &&
                    now.remediation.created >= since;
  World world{.remediation = now.remediation,
              .node = now.node ? &*now.node : nullptr,
              .excluded = now.excluded,
              .has_unmarked_elsewhere = has_unmarked,
              .report = {},
              .can_ask_alerts = parts_.alerts != nullptr,
              .alerts = {},
              .slot = {}};
  Decision decision = decide(*now.policy, world, parts_.clock.wall());
  for (int i = 0; i < kMostAnswers; ++i) {
    if (now.is_remembered && !may_go_by_memory(decision)) break;
    if (decision.verdict == Verdict::kAskReport) {
      world.report = report_of(now.remediation.node);
      remember_gpus(*world.report, now.remediation);
      if (*world.report) now.report = **world.report;
    } else if (decision.verdict == Verdict::kAskAlerts) {
      world.alerts = parts_.alerts->fingerprints();
      if (!*world.alerts) parts_.observer.on_error(now.remediation.node, world.alerts->error());
    } else if (decision.verdict == Verdict::kAskSlot) {
      world.slot = parts_.slots.take(now.remediation, *now.node, decision.step->step);
      now.has_asked_slot = true;
      if (!*world.slot) parts_.observer.on_error(now.remediation.node, world.slot->error());
    } else {
      break;
    }
    decision = decide(*now.policy, world, parts_.clock.wall());
  }
  return decision;
}

Result<HealthReport> Reconciler::report_of(const std::string& node) {
  if (parts_.reports == nullptr) {
    return fail(ErrorKind::kNotFound, "no --prometheus.url is set to read it from");
  }
  auto report = parts_.reports->latest(node);
  // The status says only that there is none; the details are for the log.
  const bool is_news = !report && report.error().kind != ErrorKind::kNotFound &&
                       report.error().kind != ErrorKind::kOverloaded;
  if (is_news) parts_.observer.on_error(node, report.error());
  return report;
}

Status Reconciler::carry_out(Case& now) {
  if (!action_of(now.decision.verdict).empty()) return act(now);
  if (now.decision.verdict == Verdict::kBegin) return begin_step(now);
  if (now.decision.verdict == Verdict::kWatch) return watch_step(now);
  const Phase before = now.remediation.status.phase;
  const auto next =
      with_decision(now.remediation.status, now.decision, now.policy->mode, parts_.clock.wall());
  if (next == now.remediation.status) return {};
  if (now.is_in_storm && now.decision.verdict == Verdict::kHold && next.phase != Phase::kPaused) {
    now.decision.look_again = kStormInterval;
    return {};
  }
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  announce(now, before);
  return {};
}

// Each look at a step that takes its time would ask again.
bool Reconciler::weighs_evidence(const Case& now) const {
  const Remediation& remediation = now.remediation;
  const bool goes_on =
      now.decision.verdict == Verdict::kBegin || now.decision.verdict == Verdict::kWatch;
  const bool is_known = goes_on && remediation.status.kernel_severity;
  return parts_.reports != nullptr && !is_known && remediation.open() && remediation.any_firing();
}

// For people to read. At a look that has nothing else to write: a node that must leave never waits
// for Prometheus.
Status Reconciler::weigh_evidence(Case& now) {
  const Remediation& remediation = now.remediation;
  if (!weighs_evidence(now)) return {};
  const auto report = report_of(remediation.node);
  if (!report || report->boot_id != remediation.boot_id) return {};
  RemediationStatus next = remediation.status;
  note_evidence(*report, next);
  return next == remediation.status ? Status() : write(now, next);
}

Status Reconciler::act(Case& now) {
  const Phase before = now.remediation.status.phase;
  const ActionOrder order{.remediation = now.remediation,
                          .steps = now.decision.steps,
                          .why = now.decision.message,
                          .now = parts_.clock.wall(),
                          .konduktor_taint = wants_konduktor_taint(*now.policy, now.remediation)};
  const auto plan = action(action_of(now.decision.verdict)).plan(order, *now.node);
  if (plan) {
    if (auto allowed = parts_.permit(); !allowed) return hold_back(now, allowed.error());
    const std::string before_intent = now.remediation.resource_version;
    if (now.decision.verdict == Verdict::kRelease) {
      if (auto status = abandon_steps(now); !status) return status;
    }
    if (auto status = record_intent(now, *plan); !status) return status;
    // An intent that stood already was not written: a human may have said hands off since the read.
    const bool is_stale = now.remediation.resource_version == before_intent;
    if (is_stale && now.decision.verdict == Verdict::kQuarantine) {
      if (auto allowed = permit(now.remediation.name); !allowed) {
        return hold_back(now, allowed.error());
      }
    }
    const auto changed = parts_.api.change_node(*now.node, plan->change);
    if (!changed) return record_failure(now, changed.error());
    parts_.view.note_own_change(*changed);
  }
  const auto next =
      with_results(now.remediation.status, now.decision, now.policy->mode, parts_.clock.wall());
  if (next == now.remediation.status) return {};
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDone);
  announce(now, before);
  return {};
}

// Before a node goes back into service, and before another step is begun: then what is still under
// way was left because the node got worse. What may not be ended does not keep the node for ever.
Status Reconciler::abandon_steps(const Case& now) {
  for (const StepRecord& record : now.remediation.status.steps) {
    const bool is_over = record.result == StepResult::kDone || record.result == StepResult::kFailed;
    const bool has_action = !is_mark(record.step) && record.step != Step::kReturn;
    StepAction* const action = is_over || !has_action ? nullptr : parts_.step_actions(record.step);
    if (action == nullptr) continue;
    const PlannedStep step = planned(record.step);
    const auto ended = action->abandon({.remediation = now.remediation,
                                        .node = now.target,
                                        .step = step,
                                        .facts = record.facts,
                                        .permit = parts_.permit,
                                        .now = parts_.clock.wall()});
    if (!ended && !is_permanent(ended.error().kind)) return ended;
    if (!ended) parts_.observer.on_error(now.remediation.node, ended.error());
  }
  return {};
}

// Something forbids every change right now: what was to be done waits, and says why.
Status Reconciler::hold_back(Case& now, const Error& why) {
  now.decision.verdict = Verdict::kHold;
  now.decision.rule = "guard.stop";
  now.decision.message = "nothing is changed: " + why.message;
  now.decision.phase = now.remediation.status.phase;
  now.decision.reasons.push_back(now.decision.message);
  now.decision.look_again = kStopInterval;
  return carry_out(now);
}

// The step itself has to wait for something, as its guards do.
Status Reconciler::wait_for(Case& now, const std::string& what) {
  now.decision.verdict = Verdict::kHold;
  now.decision.phase = Phase::kWaiting;
  now.decision.message = std::string(to_string(now.decision.step->step)) + " waits: " + what;
  now.decision.reasons.push_back(now.decision.message);
  now.decision.look_again = kObstacleInterval;
  return carry_out(now);
}

StepOrder Reconciler::order_of(const Case& now) {
  const Step step = now.decision.step->step;
  const StepRecord* record = now.remediation.status.find(step);
  return {.remediation = now.remediation,
          .node = now.target,
          .step = *now.decision.step,
          .facts = record == nullptr ? Facts() : record->facts,
          .permit = [this, step, name = now.remediation.name,
                     intended = intent_of(record)] { return permit_step(name, step, intended); },
          .now = parts_.clock.wall()};
}

Status Reconciler::begin_step(Case& now) {
  StepAction* const action = parts_.step_actions(now.decision.step->step);
  if (action == nullptr) {
    return fail(ErrorKind::kInvalid, "nothing is configured that can " +
                                         std::string(to_string(now.decision.step->step)));
  }
  if (auto allowed = parts_.permit(); !allowed) return hold_back(now, allowed.error());
  const auto obstacle = action->obstacle(order_of(now));
  if (!obstacle && !is_permanent(obstacle.error().kind)) {
    return with_context(std::string(to_string(now.decision.step->step)), obstacle.error());
  }
  if (!obstacle) return wait_for(now, obstacle.error().message);
  if (*obstacle) return wait_for(now, **obstacle);
  if (auto status = abandon_steps(now); !status) return status;
  const Phase before = now.remediation.status.phase;
  if (now.report && now.report->boot_id == now.remediation.boot_id)
    note_evidence(*now.report, now.remediation.status);
  const auto intended =
      with_begin(now.remediation.status, now.decision, now.remediation.acted_severity(),
                 now.policy->mode, action->facts_before(now.target), parts_.clock.wall());
  if (auto status = write(now, intended); !status) return status;
  audit(now, AuditMoment::kDecided);
  announce(now, before);
  return record_progress(now, action->begin(order_of(now)));
}

Status Reconciler::watch_step(Case& now) {
  StepAction* const action = parts_.step_actions(now.decision.step->step);
  if (action == nullptr) {
    return record_progress(now, StepProgress{.result = StepResult::kFailed,
                                             .message = "nothing is configured any more for it",
                                             .facts = {},
                                             .look_again = {}});
  }
  return record_progress(now, action->watch(order_of(now)));
}

Status Reconciler::record_progress(Case& now, const Result<StepProgress>& progress) {
  const std::string step(to_string(now.decision.step->step));
  if (!progress) return with_context(step + " of node " + now.remediation.node, progress.error());
  const Phase before = now.remediation.status.phase;
  const auto next =
      with_progress(now.remediation.status, now.decision, *progress, parts_.clock.wall());
  const StepRecord* record = next.find(now.decision.step->step);
  const bool is_over = record == nullptr || record->result != StepResult::kRunning;
  now.decision.look_again = is_over && record != nullptr ? milliseconds(0) : progress->look_again;
  if (next == now.remediation.status || is_not_worth_a_write(now, next)) return {};
  if (auto status = write(now, next); !status) return status;
  now.decision.message = next.message;
  if (is_over) {
    const bool failed = record != nullptr && record->result == StepResult::kFailed;
    audit(now, failed ? AuditMoment::kFailed : AuditMoment::kDone, failed ? next.message : "");
  }
  announce(now, before);
  for (const std::string& news : progress->news) say(now, news);
  return {};
}

// A drain says at each look how many pods are left: people can do with less.
bool Reconciler::is_not_worth_a_write(const Case& now, const RemediationStatus& next) {
  const std::string& name = now.remediation.name;
  const auto at = parts_.clock.steady();
  const std::lock_guard lock(mutex_);
  const bool is_words =
      is_same_but_for_words(next, now.remediation.status, now.decision.step->step);
  if (!is_words) {
    said_at_.erase(name);
    return false;
  }
  const auto said = said_at_.find(name);
  const bool is_too_soon = said != said_at_.end() && at < said->second + kBetweenWords;
  if (is_too_soon || (last_said_ && at < *last_said_ + kBetweenWordsOfAll)) return true;
  said_at_.insert_or_assign(name, at);
  last_said_ = at;
  return false;
}

Status Reconciler::permit(const std::string& remediation) {
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  return wishes_.ask(remediation, [&]() -> Status {
    const auto current = wish_on(remediation);
    return current ? Status() : std::unexpected(current.error());
  });
}

Status Reconciler::permit_step(const std::string& remediation, Step step,
                               const std::string& intended) {
  if (auto allowed = parts_.permit(); !allowed) return allowed;
  const std::string key = remediation + "/" + std::string(to_string(step)) + "/" + intended;
  auto stands = wishes_.ask(key, [&]() -> Status {
    const auto current = wish_on(remediation);
    if (!current) return std::unexpected(current.error());
    const StepRecord* record = current->status.find(step);
    if (record != nullptr && is_under_way(*record) && intent_of(record) == intended) return {};
    return fail(ErrorKind::kCancelled, "the step is not intended any more as it was");
  });
  if (!stands || !parts_.leads || parts_.leads()) return stands;
  return fail(ErrorKind::kCancelled, "this replica does not lead any more");
}

Result<Remediation> Reconciler::wish_on(const std::string& remediation) {
  auto current = parts_.store.read(remediation);
  if (!current) return with_context("before a change", current.error());
  if (current->wish.pause) return fail(ErrorKind::kCancelled, "a human has said pause");
  if (current->wish.cancel) return fail(ErrorKind::kCancelled, "a human has said cancel");
  // What a step has handed out may outlive it: an eviction that waits for its turn.
  if (!current->open()) return fail(ErrorKind::kCancelled, "the remediation is closed");
  return current;
}

// Written before the node is touched. After a crash or a conflict the same intent stands already.
Status Reconciler::record_intent(Case& now, const NodePlan& plan) {
  RemediationStatus known = now.remediation.status;
  if (plan.pre_existing_cordon) known.pre_existing_cordon = plan.pre_existing_cordon;
  const auto next = with_intents(known, now.decision, now.policy->mode, parts_.clock.wall());
  if (says_the_same(next, now.remediation.status)) return {};
  if (auto status = write(now, next); !status) return status;
  audit(now, AuditMoment::kDecided);
  return {};
}

Status Reconciler::record_failure(Case& now, const Error& error) {
  if (error.kind == ErrorKind::kConflict) return std::unexpected(error);  // redo from the start
  audit(now, AuditMoment::kFailed, error.message);
  if (is_permanent(error.kind)) {
    // Best effort: the failure itself is what must reach the caller.
    (void)write(now, with_failure(now.remediation.status, error.message, parts_.clock.wall()));
  }
  return with_context("changing node " + now.remediation.node, error);
}

Status Reconciler::write(Case& now, const RemediationStatus& next) {
  Remediation wanted = now.remediation;
  const WallTime at = parts_.clock.wall();
  wanted.status = with_conditions(with_milestones(now.remediation, next, at), at);
  if (parts_.notifications != nullptr) {
    wanted.status =
        with_notices(now.remediation, std::move(wanted.status), now.policy->notifications, at);
  }
  if (next.told_phase != next.phase) wanted.status.told_phase.reset();
  auto written = parts_.store.write_status(wanted);
  if (!written) return with_context("writing the status", written.error());
  tell_milestones(now.remediation.status, *written, parts_.observer);
  now.remediation = std::move(*written);
  parts_.view.put_remediation(now.remediation);
  return {};
}

void Reconciler::audit(const Case& now, AuditMoment moment, const std::string& error) {
  parts_.observer.on_audit({.moment = moment,
                            .at = parts_.clock.wall(),
                            .remediation = now.remediation,
                            .decision = now.decision,
                            .action = action_of(now.decision.verdict),
                            .error = error});
}

void Reconciler::announce(const Case& now, Phase before) {
  const Phase phase = now.remediation.status.phase;
  const bool acted = !action_of(now.decision.verdict).empty();
  if (needs_human(phase) || (phase == before && !acted)) return;
  say(now, now.decision.message);
}

// First the word, then that it was said: what is lost or dies in between says it twice, never not
// at all.
Status Reconciler::tell_human(Case& now) {
  RemediationStatus next = now.remediation.status;
  if (!needs_human(next.phase) || next.told_phase == next.phase) return {};
  const auto told = parts_.announcer.tell(event_of(now, next.message));
  if (!told) return with_context("telling that it needs a human", told.error());
  next.told_phase = next.phase;
  return write(now, next);
}

// What no sink has taken yet stays written down: when one has, the node is looked at again.
Status Reconciler::tell_sinks(Case& now) {
  if (parts_.notifications == nullptr || now.remediation.status.notices.empty()) return {};
  auto left = hand_over(now.remediation, now.policy->notifications, *parts_.notifications);
  if (left.size() == now.remediation.status.notices.size()) return {};
  RemediationStatus next = now.remediation.status;
  next.notices = std::move(left);
  return write(now, next);
}

void Reconciler::say(const Case& now, const std::string& what) {
  parts_.announcer.announce(event_of(now, what));
}

kube::NodeEvent Reconciler::event_of(const Case& now, const std::string& what) {
  const Phase phase = now.remediation.status.phase;
  kube::NodeEvent event;
  event.node = now.remediation.node;
  event.node_uid = now.remediation.node_uid;
  event.warning = needs_attention(phase);
  event.reason = "Gpuward" + std::string(to_string(phase));
  event.message = now.remediation.name + ": " + what;
  event.component = std::string(kOwner);
  return event;
}

}  // namespace gpuward::remediator
