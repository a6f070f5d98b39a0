#include "remediator/remediator.h"

#include <utility>

#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/inbox/sources/triage_source.h"
#include "remediator/tell/page/metrics.h"
#include "remediator/tell/page/pages.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kQueueCapacity = 50'000;
constexpr std::size_t kMaxBody = 16U << 20U;
constexpr std::size_t kMaxBodies = 32U << 20U;       // at once
constexpr std::size_t kMaxBodyOfPages = 64U << 10U;  // they receive no bodies
// After its evictions were answered, a node is reconciled again: the evicted pods need a moment.
constexpr seconds kAfterEvictions{1};

std::string own_pod(const Flags& flags) {
  return flags.pod_name.empty() ? std::string() : flags.state_namespace + "/" + flags.pod_name;
}

std::vector<std::string> names_of_what_fires(const KnownEvidence& known, const std::string& node) {
  std::vector<std::string> names;
  for (AlertSignal& signal : known.firing_from({})) {
    // A model's advice is not shown to it again.
    const bool is_advice = signal.fingerprint.starts_with(kTriageOrigin);
    if (signal.node == node && !is_advice) names.push_back(std::move(signal.alertname));
  }
  return names;
}

std::unique_ptr<kube::LeaderElection> stand_for_election(const Flags& flags, kube::Api& api,
                                                         Recorder& recorder, Clock& clock,
                                                         Log& log) {
  kube::LeaderHandlers handlers;
  handlers.on_change = [&log](const kube::LeaderChange& change) {
    log.info(change.leads ? "This replica leads" : "This replica does not lead",
             {{"holder", change.holder}});
  };
  handlers.on_error = [&recorder](const Error& error) { recorder.on_error({}, error); };
  return std::make_unique<kube::LeaderElection>(
      kube::LeaderOptions{.ns = flags.state_namespace,
                          .name = kLeaseName,
                          .identity = kube::make_leader_identity()},
      api, clock, std::move(handlers));
}

std::vector<Waiting> waiting_in(const ClusterView& view) {
  WaitingCount count;
  for_each_remediation(view, [&](const Remediation& one) {
    if (!one.is_drill()) count.add(one);
  });
  return count.take();
}

// Only the figures of the Remediations; the view does not have the others.
Standing standing_in(const ClusterView& view) {
  Standing now;
  now.remediations = count_remediations(view);
  now.drills = count_drills(view);
  now.waiting = waiting_in(view);
  now.left_in_service = count_left_in_service(view);
  for (const auto& [node, is_needed] : nodes_with_paused_operands(view))
    now.operands_paused.push_back(node);
  return now;
}

http::ServerOptions server_options(const std::vector<std::string>& addresses, Log& log) {
  http::ServerOptions options;
  options.listen_addresses = addresses;
  options.limits.max_body_bytes = kMaxBodyOfPages;
  options.on_problem = [&log](const std::string& problem) {
    log.error("The web server reports a problem", {{"problem", problem}});
  };
  return options;
}

std::vector<http::Route> routes_of(const PageSources& sources, Site& site, http::Access access) {
  auto routes = telemetry_routes(sources, access);
  for (http::Route& route : site.routes()) {
    route.access = access;
    routes.push_back(std::move(route));
  }
  return routes;
}

http::ServerOptions telemetry_options(const Flags& flags, const http::WebConfig& web, Log& log) {
  http::ServerOptions options = server_options(flags.telemetry_addresses, log);
  options.tls = web.tls;
  options.auth = web.auth;
  options.page_hosts = flags.web.page_hosts;
  return options;
}

http::ServerOptions webhook_options(const Flags& flags, const WebhookSecurity& security,
                                    Counters& counters, EvidenceSources& evidence, Log& log) {
  http::ServerOptions options = server_options(flags.listen_addresses, log);
  options.tls = security.web.tls;
  options.auth = security.web.auth;
  options.limits.max_body_bytes = kMaxBody;
  options.limits.max_bodies_bytes = kMaxBodies;
  options.on_answer = [&](int status) {
    counters.count_answer(status);
    evidence.note_answer(status);
  };
  return options;
}

}  // namespace

Result<std::unique_ptr<Remediator>> Remediator::start(const Flags& flags, Clock& clock, Log& log) {
  auto security = load_webhook_security(flags.web);
  if (!security) return std::unexpected(security.error());
  const auto telemetry = http::load_web_config(flags.web.telemetry_config_file);
  if (!telemetry) return std::unexpected(telemetry.error());
  auto policy = load_watched_policy(flags);
  if (!policy) return std::unexpected(policy.error());
  auto audit = AuditTrail::open(flags.audit_path);
  if (!audit) return std::unexpected(audit.error());
  auto sources = open_source_clients(flags);
  if (!sources) return std::unexpected(sources.error());
  auto cluster = Cluster::connect(
      {.kubeconfig = flags.kubeconfig, .context = flags.context, .in_cluster = flags.in_cluster},
      clock);
  if (!cluster) return std::unexpected(cluster.error());
  std::unique_ptr<Remediator> remediator(new Remediator(
      flags, std::move(*policy), std::move(*audit), std::move(*cluster), clock, log));
  remediator->sources_ = std::move(*sources);
  if (auto adopted = remediator->reload_.adopt_first(); !adopted)
    return std::unexpected(adopted.error());
  remediator->assemble();
  if (auto serving = remediator->serve(*security, *telemetry); !serving)
    return std::unexpected(serving.error());
  return remediator;
}

Remediator::Remediator(Flags flags, WatchedPolicy policy, std::unique_ptr<AuditTrail> audit,
                       std::unique_ptr<Cluster> cluster, Clock& clock, Log& log)
    : flags_(std::move(flags)),
      clock_(clock),
      log_(log),
      policy_(std::move(policy.policy)),
      counters_(clock),
      audit_(std::move(audit)),
      recorder_(counters_, *audit_, log),
      cluster_(std::move(cluster)),
      apis_(make_api_clients(*cluster_, stop_.get_token(),
                             [this] { return election_ && election_->is_leader(); })),
      work_store_(*apis_.work),
      intake_store_(*apis_.intake),
      queue_(clock, kQueueCapacity),
      aws_(aws_http_, aws::read_aws_environment(), clock),
      notifier_({.aws = aws_}, clock, log,
                [this](const std::string& node) { (void)queue_.add(node); }),
      triage_({.services = {.aws = aws_, .clock = clock},
               .log = log,
               .known_of =
                   [this](const std::string& node) { return names_of_what_fires(view_, node); }}),
      election_(stand_for_election(flags_, *apis_.lease, recorder_, clock_, log_)),
      exclusions_(*apis_.work, flags_.state_namespace, clock),
      stop_switch_(*apis_.stop_switch, {.ns = flags_.state_namespace, .config_map = kSwitchName}),
      guard_probe_(*apis_.probe, clock),
      ledger_(
          *apis_.ledger,
          {.ns = flags_.state_namespace,
           .on_made = [this] { log_.info("Created a new budget ledger"); },
           .on_went_back = [this](const std::string& why) { restored_.note(why, clock_.wall()); }},
          clock),
      slots_(ledger_, work_store_, view_, policy_, clock),
      evictor_(*apis_.drain, clock, policy_.get()->evictions),
      drainer_(*apis_.drain, evictor_, clock),
      reload_(flags_, std::move(policy.watch),
              {.policy = policy_,
               .triage = triage_,
               .notifier = notifier_,
               .evictor = evictor_,
               .on_new = [this] { controller_->take_policy(); },
               .clock = clock,
               .log = log}),
      site_(view_, policy_, *apis_.probe, flags_.state_namespace, clock),
      machines_(
          make_providers({.policy = policy_, .api = *apis_.work, .clock = clock, .aws = &aws_})) {
  evictor_.set_on_answered(
      [this](const std::string& node) { (void)queue_.add_after(node, kAfterEvictions); });
}

// request_stop() ends waits between retries, so that a failed start returns at once.
Remediator::~Remediator() { request_stop(); }

void Remediator::assemble() {
  intake_ = std::make_unique<RemediationIntake>(view_, intake_store_, queue_, clock_, &recorder_);
  evidence_ = std::make_unique<EvidenceSources>(
      EvidenceParts{.flags = flags_,
                    .clients = sources_,
                    .policy = policy_,
                    .view = view_,
                    .apis = apis_,
                    .intake = *intake_,
                    .triage = triage_,
                    .machines = *machines_,
                    .webhook_observer = recorder_,
                    .intake_observer = recorder_,
                    .on_error = [this](const Error& error) { recorder_.on_error({}, error); },
                    .leads = [this] { return election_->is_leader(); },
                    .clock = clock_,
                    .log = log_});
  announcer_ = std::make_unique<EventAnnouncer>(*apis_.event);
  steps_ = make_steps({.api = *apis_.work,
                       .reports = evidence_->reports(),
                       .drainer = drainer_,
                       .machines = *machines_,
                       .proofs = evidence_->proofs(),
                       .policy = policy_,
                       .seen = view_,
                       .replacements = replacements_,
                       .own_pod = own_pod(flags_)});
  reconciler_ = std::make_unique<Reconciler>(
      ReconcilerParts{.api = *apis_.work,
                      .store = work_store_,
                      .view = view_,
                      .policy = policy_,
                      .reports = evidence_->reports(),
                      .alerts = evidence_->alerts(),
                      .slots = slots_,
                      .step_actions = [this](Step step) { return find_step(steps_, step); },
                      .permit = [this]() -> Status {
                        if (auto allowed = restored_.permit(); !allowed) return allowed;
                        return stop_switch_.permit();
                      },
                      .announcer = *announcer_,
                      .observer = recorder_,
                      .clock = clock_,
                      .notifications = &notifier_,
                      .exclusions = &exclusions_,
                      .guard = &guard_probe_,
                      .proofs = evidence_->proofs(),
                      .leads = [this] { return election_->is_leader(); }});
  returned_ =
      std::make_unique<ReturnedMachines>(view_, *intake_, evidence_->reports(), policy_, clock_);
  orphaned_ = std::make_unique<OrphanedTaints>(*apis_.work, work_store_, view_, *intake_, clock_);
  controller_ = std::make_unique<Controller>(
      ControllerOptions{},
      ControllerParts{
          .api = *apis_.work,
          .view = view_,
          .queue = queue_,
          .reconciler = *reconciler_,
          .policy = policy_,
          .keep = [this] { return keep_ledger(); },
          .take_in_returned = [this] { return returned_->take_in(); },
          .sweep = [this] { return orphaned_->take_in(); },
          .leads = [this] { return election_->is_leader(); },
          .on_went_back = [this](const std::string& why) { restored_.note(why, clock_.wall()); },
          .observer = recorder_,
          .log = log_,
          .clock = clock_});
  readiness_ = std::make_unique<Readiness>(*apis_.probe, view_, clock_);
  guard_watch_ = std::make_unique<GuardWatch>(guard_probe_, policy_, clock_, log_);
}

std::optional<std::string> Remediator::objection() const {
  if (auto allowed = restored_.permit(); !allowed) return allowed.error().message;
  if (auto why = readiness_->objection()) return why;
  return guard_watch_->objection();
}

Status Remediator::serve(const WebhookSecurity& security, const http::WebConfig& telemetry) {
  const PageSources sources{.families = [this] { return families(); },
                            .objection = [this] { return objection(); }};
  auto pages = http::Server::start(telemetry_options(flags_, telemetry, log_),
                                   routes_of(sources, site_, telemetry.access_to_metrics()));
  if (!pages) return with_context("--web.telemetry-address", pages.error());
  telemetry_ = std::move(*pages);
  const auto webhook = webhook_options(flags_, security, counters_, *evidence_, log_);
  auto server = http::Server::start(webhook, evidence_->webhook_routes(security.access));
  if (!server) return with_context("--web.listen-address", server.error());
  webhook_server_ = std::move(*server);
  auto health = http::serve_health(flags_.health_addresses, health_routes(sources));
  if (health) health_ = std::move(*health);
  return health ? Status() : std::unexpected(health.error());
}

metrics::Families Remediator::families() const {
  Standing now = standing_in(view_);
  now.queue_length = queue_.size();
  now.events_lost = announcer_->lost();
  now.audit_lines_lost = audit_->lost();
  now.ready = !objection();
  now.approvals_guarded = guard_watch_->guarded();
  now.last_reload_good = reload_.last_good();
  now.last_good_reload = reload_.last_good_at();
  now.mode = policy_.get()->mode;
  now.leads = election_->is_leader();
  now.spending = slots_.spending();
  now.ledger_kept = ledger_kept_;
  now.stopped = stopped_;
  now.api_times = cluster_->times().family();
  now.sources = evidence_->counts();
  now.sinks = notifier_.tallies();
  now.exclusions = exclusions_.last();
  now.triage = triage_.tally();
  return to_families(counters_.values(), now);
}

// The stop switch is checked even if there is nothing to do: a forgotten stop must be noticed
// before the next node fails.
Status Remediator::keep_ledger() {
  stopped_ = !stop_switch_.permit();
  const auto kept = slots_.keep();
  ledger_kept_ = kept.has_value();
  return kept;
}

void Remediator::hang_up() {
  if (auto reopened = audit_->reopen(); !reopened)
    log_.error("Failed to reopen the audit trail", {{"error", reopened.error().message}});
  reload_.reload();
}

bool Remediator::tick() {
  reload_.reload_if_changed();
  const auto notice = restored_.notice();
  return notice && begin_anew(*notice);
}

// Any replica that notices it opens the breaker: the leader may have seen nothing of the lost
// state. A new process has no memory of it.
bool Remediator::begin_anew(const RestoredState::Notice& notice) {
  evidence_->close_webhook();
  LedgerStore of_any(*apis_.intake, {.ns = flags_.state_namespace}, clock_);
  if (auto opened = of_any.note_restored(notice.why, notice.at); !opened) {
    recorder_.on_error({}, opened.error());
    if (election_->is_leader()) (void)keep_ledger();
    return false;
  }
  log_.error("etcd was restored from a backup: this replica restarts", {{"why", notice.why}});
  return true;
}

void Remediator::request_stop() {
  stop_.request_stop();
  notifier_.request_stop();
  triage_.request_stop();
  if (evidence_) evidence_->request_stop();
  if (controller_) controller_->request_stop();
  if (readiness_) readiness_->request_stop();
  if (guard_watch_) guard_watch_->request_stop();
}

}  // namespace gpuward::remediator
