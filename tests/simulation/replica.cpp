#include "tests/simulation/replica.h"

#include <utility>

#include "core/kube/decode.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/inbox/remediation_intake.h"
#include "tests/simulation/bend.h"

namespace gpuward::remediator::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Time between the slow rounds of the leader; in the quiet time they are as far apart as the rounds
// of the simulation.
constexpr minutes kRoundEvery{1};

// A policy in which every verification ends at its first healthy look.
CurrentPolicy without_soaks(const CurrentPolicy& policy) {
  Policy unsoaked = *policy.get();
  PlannedStep verify = planned(Step::kVerify);
  verify.soak = milliseconds(0);
  unsoaked.pools.clear();
  for (const Severity severity : {Severity::kReset, Severity::kReboot, Severity::kIsolate})
    unsoaked.steps[severity] = {verify};
  return CurrentPolicy(std::move(unsoaked));
}

milliseconds resync_every(const Stage& stage) {
  return stage.is_quiet ? milliseconds(minutes(16)) : milliseconds(kRoundEvery);
}

constexpr seconds kKeepAgain{5};

}  // namespace

Result<IntakeCounts> OneByOne::take(std::span<const AlertSignal> signals, Clock::Steady deadline) {
  IntakeCounts sum;
  for (const AlertSignal& signal : signals) {
    const auto taken = intake_.take({&signal, 1}, deadline);
    if (!taken) return std::unexpected(taken.error());
    sum.accepted += taken->accepted;
  }
  return sum;
}

// Begins a new look: all answers that the replica gets from here on belong to it.
class Replica::Turn {
 public:
  Turn(Stage& stage, Look& look, std::string node) : stage_(stage) {
    Look fresh;
    fresh.who = look.who;
    fresh.identity = look.identity;
    fresh.subject = std::move(node);
    fresh.policy = stage.meant.get();
    fresh.begun = fresh.told = stage.tick;
    fresh.restores = stage.restores;
    look = std::move(fresh);
    stage_.looks.push_back(&look);
  }
  ~Turn() { stage_.looks.pop_back(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Stage& stage_;
};

Replica::Replica(Stage& stage, Invariants& invariants, const Outside& outside, std::string name,
                 int life, Meanwhile meanwhile)
    : stage_(stage),
      stall_(std::move(meanwhile.stall)),
      wire_(stage, invariants, name + "#" + std::to_string(life), std::move(meanwhile.interrupt)),
      fence_(wire_, [this] { return may_write(); }),
      pulse_(fence_, [this] { before_request(); }),
      api_(options_with(seconds(10), stage.chance.one_of({seconds(0), seconds(20)})), pulse_,
           credentials_, stage.clock),
      intake_api_(options_with(milliseconds(400), milliseconds(400)), wire_, credentials_,
                  stage.clock),
      switch_api_(options_with(seconds(2), seconds(2)), wire_, credentials_, stage.clock),
      lease_api_(options_with(seconds(4), seconds(5)), wire_, credentials_, stage.clock),
      candidate_({.ns = kStateNamespace,
                  .name = kLeaseName,
                  .identity = name + "#" + std::to_string(life),
                  .times = {},
                  .jitter_seed = stage.chance.next() | 1U},
                 lease_api_, stage.clock),
      switch_(switch_api_, {.ns = kStateNamespace, .config_map = kSwitchName}),
      store_(api_),
      intake_store_(intake_api_),
      queue_(stage.clock, 100'000),
      ledger_(api_,
              {.ns = kStateNamespace,
               .name = kLedgerName,
               .on_went_back = [this](const std::string& why) { note_restore(why); }},
              stage.clock, {.seed = stage.chance.next() | 1U}),
      slots_(ledger_, store_, view_, stage.policy, stage.clock),
      intake_(view_, intake_store_, queue_, stage.clock),
      older_(intake_, view_, stage.is_off(Sabotage::kKeptAlerts) ? nullptr : &outside.reports,
             stage.policy, stage.clock),
      unsoaked_(without_soaks(stage.policy)),
      returned_(view_, one_by_one_, stage.is_off(Sabotage::kVerified) ? nullptr : &outside.reports,
                stage.is_off(Sabotage::kHistorySoak) ? unsoaked_ : stage.policy, stage.clock),
      orphaned_(api_, store_, view_, one_by_one_, stage.clock),
      reboot_(outside.cloud, api_, stage.policy),
      end_(api_, outside.cloud, stage.policy),
      verify_(&outside.reports, stage.policy, replacements()),
      soaked_(stage, invariants.soaks(), verify_),
      drain_(stage, invariants, api_),
      exclusions_(api_, kStateNamespace, stage.clock),
      proofs_(stage, signs_,
              {.api = api_,
               .nodes = signs_,
               .policy = stage.policy,
               .scrapes = outside.scrapes,
               .machines = outside.cloud,
               .clock = stage.clock}),
      reconciler_({.api = api_,
                   .store = store_,
                   .view = view_,
                   .policy = stage.policy,
                   .reports = &outside.reports,
                   .alerts = outside.alerts,
                   .slots = outside.slots != nullptr ? *outside.slots : slots_,
                   .step_actions = [this, others = outside.steps](Step step) -> StepAction* {
                     StepAction* const own = own_step(step);
                     return own != nullptr ? own : others(step);
                   },
                   .permit = [this]() -> Status {
                     if (auto allowed = restored_.permit(); !allowed) return allowed;
                     return switch_.permit();
                   },
                   .announcer = outside.announcer,
                   .observer = observer_,
                   .clock = stage.clock,
                   .notifications = outside.sinks,
                   .exclusions = stage.setting.care.excludes ? &exclusions_ : nullptr,
                   .guard = outside.guard,
                   .proofs = &proofs_,
                   .leads = [this] { return may_call(); },
                   .jitter_seed = 1}),
      informers_(stage, credentials_,
                 {.view = view_,
                  .queue = queue_,
                  .policy = stage.policy,
                  .log = stage.log,
                  .clock = stage.clock,
                  .on_went_back =
                      [this](const std::string& why) {
                        if (!stage_.is_off(Sabotage::kVersionsBack)) note_restore(why);
                      },
                  .on_error = {}}),
      round_due_(stage.clock.steady()),
      keep_due_(stage.clock.steady()) {
  look_.identity = name + "#" + std::to_string(life);
  look_.who = std::move(name);
  if (outside.alerts != nullptr && !stage.is_off(Sabotage::kConfirmedEnds))
    confirmed_ends_ =
        std::make_unique<ConfirmedEnds>(older_, *outside.alerts, stage.clock, nullptr);
  if (outside.places != nullptr)
    others_ = std::make_unique<OtherSources>(stage, *outside.places, view_, one_by_one_,
                                             credentials_, look_.identity, *outside.scrapes);
}

Replacements& Replica::replacements() {
  if (stage_.is_off(Sabotage::kClaims)) return no_claims_;
  return known_replacements_;
}

StepAction* Replica::own_step(Step step) {
  if (step == Step::kNotify) return &notify_;
  if (step == Step::kOutOfService) return &moves_;
  if (step == Step::kVerify) return &soaked_;
  if (step == Step::kNcclPairs) return &pairs_;
  if (step == Step::kGpuReset) return &resets_;
  if (step == Step::kCollectEvidence) return &collects_;
  if (step == Step::kQuarantineJob) return &tests_;
  if (step == Step::kRestartJob) return &restarts_;
  if (step == Step::kDrain && stage_.setting.has_pods) return &drain_;
  if (step == Step::kReboot && stage_.is_off(Sabotage::kOnce)) return &begins_again_;
  if (step == Step::kReboot && stage_.is_off(Sabotage::kLateRestart)) return &gives_up_;
  if (step == Step::kReboot) return &reboot_;
  if (step != Step::kTerminate) return nullptr;
  if (stage_.is_off(Sabotage::kEndOnce)) return &ends_again_;
  if (stage_.is_off(Sabotage::kSettled)) return &ends_at_once_;
  return &end_;
}

kube::ApiOptions Replica::options_with(milliseconds request, milliseconds retries) {
  kube::ApiOptions options;
  options.server = "http://fake";
  options.request_timeout = request;
  options.retry_deadline = retries;
  options.jitter_seed = stage_.chance.next() | 1U;
  return options;
}

// Does the same as Controller's slow round.
void Replica::go_on() {
  const Turn turn(stage_, look_, {});
  stand();
  if (stage_.is_off(Sabotage::kLedgerCount)) ledger_.accept_restored();
  is_over_ = begin_anew();
  if (is_over_ || !view_.informers().synced()) return;
  listen();
  const bool has_led = std::exchange(has_led_, leads());
  if (leads() && !has_led) reconciler_.begin_to_lead();
  const bool is_due = leads() && (!has_led || keep_due_ <= stage_.clock.steady());
  if (is_due) keep();
  if (is_due && leads()) sweep();
  const bool is_returned_due = is_due || returned_due_ <= stage_.clock.steady();
  if (leads() && (view_.may_have_returned() || is_returned_due)) take_in_returned();
  if (others_ && others_->is_due(leads())) hear_others();
}

void Replica::note_open() {
  for_each_remediation(view_, [this](const Remediation& known) {
    if (known.open()) look_.versions[known.name] = known.resource_version;
  });
}

void Replica::hear_others() {
  is_busy_ = is_taking_ = true;
  note_open();
  others_->go_on([this] { return leads(); });
  is_busy_ = is_taking_ = false;
  collect_queue();
}

void Replica::take_in_returned() {
  returned_due_ = stage_.clock.steady() + kRoundEvery;
  if (stage_.is_off(Sabotage::kReturned)) return;
  is_busy_ = is_taking_ = true;
  note_open();
  if (const auto taken = returned_.take_in(); !taken)
    stage_.trace.say(name() + ": " + taken.error().message);
  is_busy_ = is_taking_ = false;
  collect_queue();
}

void Replica::sweep() {
  if (stage_.is_off(Sabotage::kSweep)) return;
  is_busy_ = is_taking_ = true;
  if (!stage_.is_off(Sabotage::kOutOfService)) {
    if (const auto taken = reconciler_.take_off_out_of_service(); !taken)
      stage_.trace.say(name() + ": " + words_of(taken.error()));
  }
  if (!stage_.is_off(Sabotage::kLeftOperands)) {
    if (const auto resumed = reconciler_.resume_left_operands(); !resumed)
      stage_.trace.say(name() + ": " + words_of(resumed.error()));
  }
  if (const auto swept = orphaned_.take_in(); !swept)
    stage_.trace.say(name() + ": " + words_of(swept.error()));
  is_busy_ = is_taking_ = false;
  collect_queue();
}

void Replica::stand() {
  if (round_due_ > stage_.clock.steady()) return;
  (void)candidate_.try_to_lead();
  round_due_ = stage_.clock.steady() + candidate_.pause();
}

void Replica::keep() {
  is_busy_ = true;
  const auto kept = slots_.keep();
  is_busy_ = false;
  resync();
  keep_due_ = stage_.clock.steady() + (kept ? resync_every(stage_) : milliseconds(kKeepAgain));
}

void Replica::note_restore(const std::string& why) {
  if (stage_.restores == 0) throw Broken{"went-back", why};
  stage_.trace.say(name() + " has noticed: " + why);
  restored_.note(why, stage_.clock.wall());
  stage_.noticed.insert(identity());
}

// Does the same as Remediator::begin_anew; returns whether the process ends.
bool Replica::begin_anew() {
  const auto notice = restored_.notice();
  if (!notice) return false;
  if (stage_.is_off(Sabotage::kBeginAnew)) return true;
  is_busy_ = true;
  LedgerStore of_any(intake_api_, {.ns = kStateNamespace, .name = kLedgerName}, stage_.clock,
                     {.seed = stage_.chance.next() | 1U});
  const auto opened = of_any.note_restored(notice->why, notice->at);
  if (!opened && leads()) (void)slots_.keep();
  is_busy_ = false;
  return opened.has_value();
}

void Replica::stop() {
  const Turn turn(stage_, look_, {});
  (void)candidate_.give_back();
}

// A stalled process does not renew its lease either.
void Replica::before_request() {
  if (stage_.is_quiet || !stage_.chance.happens(stage_.setting.stall)) return stand();
  const auto span = stage_.chance.span(seconds(5), seconds(40));
  stage_.trace.say(name() + " stands still for " + std::to_string(span.count()) + " ms");
  stall_(span);
}

// Bends the view's copy as an answer of the API server would be bent; returns it unchanged without
// a sabotage.
Remediation Replica::as_told(const Remediation& remediation) const {
  const std::string path = remediation_collection() + "/" + remediation.name;
  if (stage_.sabotage == Sabotage::kNone || !stage_.kube.has(path)) return remediation;
  const std::string now = dump_json(stage_.kube.get(path));
  const std::string bent =
      bent_answer(stage_, {Resource::kRemediation, remediation.name}, false, now);
  return bent == now ? remediation : *parse_remediation(bent);
}

// Only the view notices a dead network.
void Replica::listen() {
  const Clock::Steady now = stage_.clock.steady();
  if (!view_.informers().synced()) return;
  if (deaf_until_ <= now && !stage_.is_quiet &&
      stage_.watch_chance.happens(stage_.setting.dead_watch)) {
    deaf_until_ = now + stage_.watch_chance.span(seconds(20), minutes(6));
    informers_.die_until(deaf_until_);
    stage_.trace.say(name() + " hears nothing any more");
  }
  informers_.go_on();
  collect_queue();
  if (stage_.is_off(Sabotage::kView)) note_heard();
}

void Replica::note_heard() {
  view_.informers().note_heard(Informer::kNodes, stage_.clock.steady());
  view_.informers().note_heard(Informer::kRemediations, stage_.clock.steady());
}

void Replica::hear(std::size_t count) {
  listen();
  informers_.hear(count);
  collect_queue();
}

void Replica::resync() {
  retries_.allow_all();
  for (const std::string& node : nodes_with_open(view_)) {
    due_.try_emplace(node, stage_.clock.steady());
  }
}

void Replica::reconcile(std::string node) {
  due_.erase(node);
  if (!leads()) return;
  is_busy_ = true;
  const Turn turn(stage_, look_, node);
  remember(node);
  const NodeLook look = reconciler_.reconcile(node, &retries_);
  is_busy_ = false;
  for (const Error& error : look.errors)
    stage_.trace.say(name() + ": " + node + ": " + words_of(error));
  if (!look.look_again) return;
  const milliseconds wait =
      stage_.is_off(Sabotage::kLookAgain) ? milliseconds(0) : *look.look_again;
  const Clock::Steady at = stage_.clock.steady() + wait;
  const auto [known, is_new] = due_.try_emplace(node, at);
  if (!is_new) known->second = std::min(known->second, at);
}

// The names of Jobs differ in every replay.
std::string Replica::words_of(const Error& error) const {
  if (!stage_.setting.tests_pairs && !stage_.setting.has_jobs) return error.message;
  return "error " + std::to_string(static_cast<int>(error.kind));
}

// Hides from the other replicas that a Remediation waits for room for a taint.
void Replica::forget_who_waits() {
  std::vector<Remediation> waiting;
  for_each_remediation(view_, [&](const Remediation& known) {
    if (known.status.rule == "budget.taint") waiting.push_back(known);
  });
  for (Remediation& known : waiting) {
    known.status.rule = "budget.forgotten";
    view_.put_remediation(std::move(known));
  }
}

// The replica knows what the informers have received without a request.
void Replica::remember(const std::string& node) {
  informers_.note(look_);
  for (const std::string& name : open_for(view_, node)) {
    auto known = *last_remediation(view_, name);
    if (stage_.sabotage != Sabotage::kNone) {
      known = as_told(known);
      view_.put_remediation(known);
    }
    look_.versions[name] = known.resource_version;
  }
  if (const auto known = last_node(view_, node)) look_.node = *known;
  if (stage_.is_off(Sabotage::kTaintOrder)) forget_who_waits();
}

// The webhook; a sabotage bends its alerts.
Result<IntakeCounts> Replica::take(AlertSignal signal) {
  if (stage_.is_off(Sabotage::kIntake)) return IntakeCounts{.accepted = 1};
  if (auto allowed = restored_.permit(); !allowed) return std::unexpected(allowed.error());
  const auto to = identity_in(view_, signal.node);
  if (stage_.is_off(Sabotage::kOldAlerts) && to && is_older_than_node(signal, *to))
    return IntakeCounts{.ignored = 1};
  is_busy_ = is_taking_ = true;
  const Turn turn(stage_, look_, signal.node);
  if (const auto node = identity_in(view_, signal.node)) {
    for (const Remediation& known : remediations_of(view_, node->uid)) {
      look_.versions[known.name] = known.resource_version;
    }
  }
  for (const std::string& name : open_for(view_, signal.node))
    look_.versions[name] = last_remediation(view_, name)->resource_version;
  if (stage_.is_off(Sabotage::kEarlierEpisode) && !signal.firing)
    signal.ends_at = stage_.clock.wall();
  if (stage_.is_off(Sabotage::kLateRepeats) && signal.firing)
    signal.starts_at = stage_.clock.wall();
  Intake& webhook = confirmed_ends_ ? static_cast<Intake&>(*confirmed_ends_) : older_;
  auto taken = webhook.take({&signal, 1}, stage_.clock.steady() + seconds(30));
  is_busy_ = is_taking_ = false;
  collect_queue();
  return taken;
}

void Replica::collect_queue() {
  while (queue_.size() > 0) {
    const auto node = queue_.take({});
    due_[*node] = stage_.clock.steady();
    queue_.done(*node);
  }
}

}  // namespace gpuward::remediator::simulation
