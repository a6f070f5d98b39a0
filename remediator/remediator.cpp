#include "remediator/remediator.h"

#include <utility>

#include "remediator/budgets/breaker.h"
#include "remediator/config/load_policy.h"
#include "remediator/page/metrics.h"
#include "remediator/page/pages.h"
#include "remediator/policy/policy_remarks.h"
#include "remediator/sources/triage_source.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kQueueCapacity = 50'000;
constexpr std::size_t kMaxBody = 16U << 20U;
// After its evictions were answered, a node is reconciled again.
constexpr seconds kAfterEvictions{1};
// A webhook answers within a second, and may need two requests for it.
constexpr Deadlines kIntakeDeadlines{milliseconds(400), milliseconds(400)};
constexpr Deadlines kWorkDeadlines{seconds(10), seconds(20)};
// The server itself may try a disruption budget for 10 s before it answers.
constexpr Deadlines kDrainDeadlines{seconds(35), seconds(35)};
constexpr Deadlines kSwitchDeadlines{kSwitchReadLimit, kSwitchReadLimit};
constexpr Deadlines kLeaseDeadlines{seconds(4), seconds(5)};
constexpr const char* kSwitchName = "gpuward-remediator-switch";
constexpr const char* kLeaseName = "gpuward-remediator";
constexpr Deadlines kEventDeadlines{seconds(5), seconds(5)};
constexpr Deadlines kProbeDeadlines{seconds(2), seconds(2)};

void say_what_is_on(const Policy& policy, Log& log) {
  log.info("Policy in force", {{"mode", std::string(to_string(policy.mode))}});
  for (const std::string& remark : remarks_on(policy))
    log.warn("Policy needs attention", {{"note", remark}});
}

std::string own_pod(const Flags& flags) {
  return flags.pod_name.empty() ? std::string() : flags.state_namespace + "/" + flags.pod_name;
}

}  // namespace

Result<std::unique_ptr<Remediator>> Remediator::start(const Flags& flags, Clock& clock, Log& log) {
  auto security = load_webhook_security(flags.web);
  if (!security) return std::unexpected(security.error());
  auto policy = load_policy(flags);
  if (!policy) return std::unexpected(policy.error());
  auto audit = AuditTrail::open(flags.audit_path);
  if (!audit) return std::unexpected(audit.error());
  auto sources = open_source_clients(flags);
  if (!sources) return std::unexpected(sources.error());
  auto cluster = Cluster::connect(flags, clock);
  if (!cluster) return std::unexpected(cluster.error());
  std::unique_ptr<Remediator> remediator(new Remediator(
      flags, std::move(*policy), std::move(*audit), std::move(*cluster), clock, log));
  remediator->sources_ = std::move(*sources);
  if (auto adopted = remediator->adopt(*remediator->policy_.get()); !adopted)
    return std::unexpected(adopted.error());
  remediator->assemble();
  if (auto serving = remediator->serve(*security); !serving)
    return std::unexpected(serving.error());
  return remediator;
}

Remediator::Remediator(Flags flags, Policy policy, std::unique_ptr<AuditTrail> audit,
                       std::unique_ptr<Cluster> cluster, Clock& clock, Log& log)
    : flags_(std::move(flags)),
      clock_(clock),
      log_(log),
      policy_(std::move(policy)),
      last_good_reload_(clock.wall()),
      counters_(clock),
      audit_(std::move(audit)),
      witness_(counters_, *audit_, log),
      cluster_(std::move(cluster)),
      work_api_(make_leaders_api(kWorkDeadlines)),
      intake_api_(cluster_->make_api(kIntakeDeadlines, stop_.get_token())),
      event_api_(cluster_->make_api(kEventDeadlines, stop_.get_token())),
      probe_api_(cluster_->make_api(kProbeDeadlines, stop_.get_token())),
      ledger_api_(make_leaders_api(kWorkDeadlines)),
      drain_api_(make_leaders_api(kDrainDeadlines)),
      switch_api_(cluster_->make_api(kSwitchDeadlines, stop_.get_token())),
      // Not ended by our stop: the lease is given back after it.
      lease_api_(cluster_->make_api(kLeaseDeadlines, {})),
      work_store_(*work_api_),
      intake_store_(*intake_api_),
      queue_(clock, kQueueCapacity),
      aws_(aws_http_, aws::read_aws_environment(), clock),
      notifier_({.aws = aws_}, clock, log,
                [this](const std::string& node) { (void)queue_.add(node); }),
      triage_({.services = {.aws = aws_, .clock = clock},
               .log = log,
               .known_of = [this](const std::string& node) { return names_of_what_fires(node); }}),
      election_(stand_for_election()),
      exclusions_(*work_api_, flags_.state_namespace, clock),
      stop_switch_(*switch_api_, {.ns = flags_.state_namespace, .config_map = kSwitchName}),
      guard_probe_(*probe_api_, clock),
      ledger_(
          *ledger_api_,
          {.ns = flags_.state_namespace,
           .on_made = [this] { log_.info("A new ledger of the budgets is made"); },
           .on_went_back = [this](const std::string& why) { restored_.note(why, clock_.wall()); }},
          clock),
      slots_(ledger_, work_store_, view_, policy_, clock),
      evictor_(*drain_api_, clock, policy_.get()->evictions),
      drainer_(*drain_api_, evictor_, clock),
      machines_(
          make_providers({.policy = policy_, .api = *work_api_, .clock = clock, .aws = &aws_})) {
  if (!flags_.config_file.empty()) policy_watch_.emplace(flags_.config_file);
  // The evicted pods need a moment to end.
  evictor_.set_on_answered(
      [this](const std::string& node) { (void)queue_.add_after(node, kAfterEvictions); });
}

// Waits between tries end here, so that a start that fails is over at once.
Remediator::~Remediator() { request_stop(); }

void Remediator::assemble() {
  say_what_is_on(*policy_.get(), log_);
  if (!flags_.prometheus_url.empty()) {
    reports_ =
        std::make_unique<PrometheusReports>(flags_.prometheus_url, *sources_.prometheus, clock_);
  }
  if (!flags_.alertmanager_url.empty()) {
    alertmanager_ =
        std::make_unique<AlertmanagerApi>(flags_.alertmanager_url, *sources_.alertmanager);
  }
  intake_ = std::make_unique<RemediationIntake>(view_, intake_store_, queue_, clock_, &witness_);
  if (alertmanager_) {
    poll_ = std::make_unique<AlertmanagerPoll>(PollOptions{.policy = &policy_, .known = &view_},
                                               *alertmanager_, *intake_, clock_);
    poll_->start([this](const Error& error) { witness_.on_error({}, error); });
  }
  announcer_ = std::make_unique<EventAnnouncer>(*event_api_);
  steps_ = make_steps({.api = *work_api_,
                       .reports = reports_.get(),
                       .drainer = drainer_,
                       .machines = *machines_,
                       .policy = policy_,
                       .seen = view_,
                       .replacements = replacements_,
                       .own_pod = own_pod(flags_)});
  reconciler_ = std::make_unique<Reconciler>(
      ReconcilerParts{.api = *work_api_,
                      .store = work_store_,
                      .view = view_,
                      .policy = policy_,
                      .reports = reports_.get(),
                      .alerts = poll_.get(),
                      .slots = slots_,
                      .step_actions = [this](Step step) { return find_step(steps_, step); },
                      .permit = [this] { return permit(); },
                      .announcer = *announcer_,
                      .observer = witness_,
                      .clock = clock_,
                      .notifications = &notifier_,
                      .exclusions = &exclusions_,
                      .guard = &guard_probe_,
                      .leads = [this] { return election_->is_leader(); }});
  if (poll_) confirmed_ends_ = std::make_unique<ConfirmedEnds>(*intake_, *poll_, &witness_);
  Intake& notified = confirmed_ends_ ? static_cast<Intake&>(*confirmed_ends_) : *intake_;
  webhook_ = std::make_unique<AlertmanagerWebhook>(WebhookOptions{.policy = &policy_}, notified,
                                                   alertmanager_.get(), witness_, clock_);
  returned_ = std::make_unique<ReturnedMachines>(view_, *intake_, reports_.get(), policy_, clock_);
  orphaned_ = std::make_unique<OrphanedMarks>(*work_api_, work_store_, view_, *intake_, clock_);
  controller_ = std::make_unique<Controller>(
      ControllerOptions{},
      ControllerParts{
          .api = *work_api_,
          .view = view_,
          .queue = queue_,
          .reconciler = *reconciler_,
          .policy = policy_,
          .keep = [this] { return keep_ledger(); },
          .take_in_returned = [this] { return returned_->take_in(); },
          .sweep = [this] { return orphaned_->take_in(); },
          .leads = [this] { return election_->is_leader(); },
          .on_went_back = [this](const std::string& why) { restored_.note(why, clock_.wall()); },
          .observer = witness_,
          .log = log_,
          .clock = clock_});
  readiness_ = std::make_unique<Readiness>(*probe_api_, view_, clock_);
  guard_watch_ = std::make_unique<GuardWatch>(guard_probe_, policy_, clock_, log_);
  start_sources();
}

void Remediator::start_sources() {
  SourceParts parts{.policy = policy_,
                    .known = view_,
                    .nodes = view_,
                    .clock = clock_,
                    .prometheus = {},
                    .prometheus_client = sources_.prometheus.get(),
                    .loki = {},
                    .loki_client = sources_.loki.get(),
                    .api = *work_api_};
  if (flags_.prometheus_alerts)
    parts.prometheus = {.url = flags_.prometheus_url, .every = flags_.monitor_interval};
  if (!flags_.loki_url.empty()) {
    parts.loki = {.place = {.url = flags_.loki_url, .tenant = flags_.loki_tenant},
                  .namespaces = flags_.loki_namespaces,
                  .state_namespace = flags_.state_namespace,
                  .triage = &triage_};
  }
  for (auto& source : make_sources(parts)) {
    source_polls_.push_back(std::make_unique<SourcePoll>(
        std::move(source),
        SourcePollParts{.intake = *intake_,
                        .clock = clock_,
                        .leads = [this] { return election_->is_leader(); },
                        .on_error = [this](const Error& error) { witness_.on_error({}, error); }}));
  }
}

std::vector<std::string> Remediator::names_of_what_fires(const std::string& node) const {
  std::vector<std::string> names;
  for (Order& order : view_.firing_from({})) {
    // What a model has said is nothing that it should hear again.
    const bool is_advice = order.fingerprint.starts_with(kTriageOrigin);
    if (order.node == node && !is_advice) names.push_back(std::move(order.alertname));
  }
  return names;
}

Status Remediator::adopt(const Policy& policy) {
  auto triage = triage_.prepare(policy.triage);
  if (!triage) return std::unexpected(triage.error());
  if (auto opened = notifier_.set_sinks(policy.notifications.sinks); !opened) return opened;
  triage_.take_over(*std::move(triage));
  return {};
}

std::unique_ptr<kube::Api> Remediator::make_leaders_api(Deadlines deadlines) {
  return cluster_->make_fenced_api(deadlines, stop_.get_token(),
                                   [this] { return election_ && election_->is_leader(); });
}

std::unique_ptr<kube::LeaderElection> Remediator::stand_for_election() {
  kube::LeaderHandlers handlers;
  handlers.on_change = [this](const kube::LeaderChange& change) {
    log_.info(change.leads ? "This replica leads" : "This replica does not lead",
              {{"holder", change.holder}});
  };
  handlers.on_error = [this](const Error& error) { witness_.on_error({}, error); };
  return std::make_unique<kube::LeaderElection>(
      kube::LeaderOptions{.ns = flags_.state_namespace,
                          .name = kLeaseName,
                          .identity = kube::make_leader_identity()},
      *lease_api_, clock_, std::move(handlers));
}

std::optional<std::string> Remediator::objection() const {
  if (auto allowed = restored_.permit(); !allowed) return allowed.error().message;
  if (auto why = readiness_->objection()) return why;
  return guard_watch_->objection();
}

Status Remediator::serve(const WebhookSecurity& security) {
  const auto on_problem = [this](const std::string& problem) {
    log_.error("The web server has a problem", {{"problem", problem}});
  };
  http::ServerOptions telemetry;
  telemetry.listen_addresses = flags_.telemetry_addresses;
  telemetry.on_problem = on_problem;
  auto pages = http::Server::start(telemetry,
                                   telemetry_routes({.families = [this] { return families(); },
                                                     .objection = [this] { return objection(); }}));
  if (!pages) return with_context("--web.telemetry-address", pages.error());
  telemetry_ = std::move(*pages);
  http::ServerOptions webhook;
  webhook.listen_addresses = flags_.listen_addresses;
  webhook.tls = security.web.tls;
  webhook.auth = security.web.auth;
  webhook.limits.max_body_bytes = kMaxBody;
  webhook.on_problem = on_problem;
  webhook.on_answer = [this](int status) { counters_.count_answer(status); };
  auto server = http::Server::start(
      webhook,
      {{.path = "/api/v1/alerts",
        .methods = {"POST"},
        .handler = [this](const http::Request& request) { return webhook_->handle(request); },
        .access = security.access}});
  if (!server) return with_context("--web.listen-address", server.error());
  webhook_server_ = std::move(*server);
  return {};
}

std::vector<metrics::Family> Remediator::families() const {
  std::vector<SourceCounts> sources;
  for (const auto& poll : source_polls_) sources.push_back(poll->counts());
  WaitingCount waiting;
  view_.for_each_remediation([&](const Remediation& one) { waiting.add(one); });
  return to_families(counters_.values(), {.remediations = view_.count_remediations(),
                                          .waiting = waiting.take(),
                                          .left_in_service = view_.count_left_in_service(),
                                          .queue_length = queue_.size(),
                                          .events_lost = announcer_->lost(),
                                          .audit_lines_lost = audit_->lost(),
                                          .ready = !objection(),
                                          .approvals_guarded = guard_watch_->guarded(),
                                          .last_reload_good = last_reload_good_,
                                          .last_good_reload = last_good_reload_.load(),
                                          .mode = policy_.get()->mode,
                                          .leads = election_->is_leader(),
                                          .spending = slots_.spending(),
                                          .ledger_kept = ledger_kept_,
                                          .stopped = stopped_,
                                          .api_times = cluster_->times().family(),
                                          .sources = std::move(sources),
                                          .sinks = notifier_.tallies(),
                                          .exclusions = exclusions_.last(),
                                          .triage = triage_.tally()});
}

// The switch is looked at even where nothing is to be done: one that was left on has to be noticed
// before the next node goes bad.
Status Remediator::keep_ledger() {
  stopped_ = !stop_switch_.permit();
  const auto kept = slots_.keep();
  ledger_kept_ = kept.has_value();
  return kept;
}

void Remediator::hang_up() {
  if (auto reopened = audit_->reopen(); !reopened) {
    log_.error("The audit trail stays in its old file", {{"error", reopened.error().message}});
  }
  reload();
}

void Remediator::reload() {
  auto policy = load_policy(flags_);
  if (!policy) {
    log_.error("The new policy is wrong: the old one stays in force",
               {{"error", policy.error().message}});
    last_reload_good_ = false;
    return;
  }
  if (auto adopted = adopt(*policy); !adopted) {
    log_.error("The new policy cannot be taken over: the old one stays in force",
               {{"error", adopted.error().message}});
    last_reload_good_ = false;
    return;
  }
  say_what_is_on(*policy, log_);
  evictor_.set_rate(policy->evictions);
  policy_.set(std::move(*policy));
  last_reload_good_ = true;
  last_good_reload_ = clock_.wall();
  controller_->look_at_all();
}

void Remediator::tick() {
  if (policy_watch_ && policy_watch_->changed()) reload();
  if (const auto notice = restored_.notice()) begin_anew(*notice);
}

Status Remediator::permit() {
  if (auto allowed = restored_.permit(); !allowed) return allowed;
  return stop_switch_.permit();
}

// Whoever notices opens the breaker, leader or not: the leader may have seen nothing that is gone.
// A new process remembers nothing that is no more.
void Remediator::begin_anew(const RestoredState::Notice& notice) {
  webhook_->close();
  LedgerStore of_any(*intake_api_, {.ns = flags_.state_namespace}, clock_);
  if (auto opened = of_any.note_restored(notice.why, notice.at); !opened) {
    witness_.on_error({}, opened.error());
    if (election_->is_leader()) (void)keep_ledger();
    return;
  }
  is_over_ = true;
  log_.error("etcd was restored from a backup: this process begins anew", {{"why", notice.why}});
}

void Remediator::request_stop() {
  stop_.request_stop();
  notifier_.request_stop();
  triage_.request_stop();
  if (webhook_) webhook_->close();
  for (const auto& poll : source_polls_) poll->request_stop();
  if (controller_) controller_->request_stop();
  if (readiness_) readiness_->request_stop();
  if (guard_watch_) guard_watch_->request_stop();
}

}  // namespace gpuward::remediator
