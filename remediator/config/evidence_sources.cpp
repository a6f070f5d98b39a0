#include "remediator/config/evidence_sources.h"

#include <algorithm>
#include <utility>

#include "core/kube/leader.h"
#include "remediator/inbox/sources/source_parts.h"

namespace gpuward::remediator {

namespace {

std::unique_ptr<PrometheusReports> make_reports(const EvidenceParts& parts) {
  if (parts.flags.prometheus_url.empty()) return nullptr;
  return std::make_unique<PrometheusReports>(parts.flags.prometheus_url, *parts.clients.prometheus,
                                             parts.policy, parts.clock);
}

std::unique_ptr<PrometheusScrapes> make_scrapes(const EvidenceParts& parts) {
  if (parts.flags.prometheus_url.empty()) return nullptr;
  return std::make_unique<PrometheusScrapes>(parts.flags.prometheus_url, *parts.clients.prometheus,
                                             parts.policy, parts.clock);
}

// Returns how long a fault must last before it counts. A polled alert is known after two rounds.
std::chrono::milliseconds lasting_of(const Flags& flags) {
  const std::chrono::seconds polled = 2 * flags.monitor_interval + std::chrono::seconds(60);
  return std::max(std::chrono::seconds(180),
                  flags.prometheus_alerts ? polled : std::chrono::seconds(0));
}

// Returns this replica's key in a ConfigMap, which differs for each replica.
std::string replica_name(const Flags& flags) {
  return flags.pod_name.empty() ? kube::make_leader_identity() : flags.pod_name;
}

}  // namespace

EvidenceSources::EvidenceSources(EvidenceParts parts)
    : parts_(std::move(parts)),
      reports_(make_reports(parts_)),
      scrapes_(make_scrapes(parts_)),
      proofs_({.api = *parts_.apis.work,
               .nodes = parts_.view,
               .policy = parts_.policy,
               .scrapes = scrapes_.get(),
               .machines = parts_.machines,
               .clock = parts_.clock}),
      intake_(parts_.intake, parts_.view, reports_.get(), parts_.policy, parts_.clock) {
  const Flags& flags = parts_.flags;
  if (!flags.alertmanager_url.empty()) {
    alertmanager_ =
        std::make_unique<AlertmanagerApi>(flags.alertmanager_url, *parts_.clients.alertmanager);
    poll_ = std::make_unique<AlertmanagerPoll>(
        PollOptions{.policy = &parts_.policy, .known = &parts_.view}, *alertmanager_, intake_,
        parts_.clock);
    poll_->start(parts_.on_error);
    confirmed_ends_ =
        std::make_unique<ConfirmedEnds>(intake_, *poll_, parts_.clock, &parts_.intake_observer);
  }
  Intake& notified = confirmed_ends_ ? static_cast<Intake&>(*confirmed_ends_) : intake_;
  webhook_ = std::make_unique<AlertmanagerWebhook>(
      WebhookOptions{.policy = &parts_.policy, .known = &parts_.view}, notified,
      alertmanager_.get(), parts_.webhook_observer, parts_.clock);
  start_polls();
  watch_connections();
}

void EvidenceSources::watch_connections() {
  const Flags& flags = parts_.flags;
  connections_ = std::make_unique<ConnectionWatch>(ConnectionParts{
      .probe = {flags.prometheus_url, parts_.clients.prometheus.get(), flags.alertmanager_url,
                parts_.clients.alertmanager.get(), parts_.policy},
      .reads_alerts = flags.prometheus_alerts,
      .calls = [this] { return webhook_->calls(); },
      .lasting = lasting_of(flags),
      .policy = parts_.policy,
      .view = parts_.view,
      .api = *parts_.apis.probe,
      .state_namespace = flags.state_namespace,
      .replica = replica_name(flags),
      .clock = parts_.clock,
      .log = parts_.log});
  connections_->start();
}

void EvidenceSources::start_polls() {
  const Flags& flags = parts_.flags;
  SourceParts sources{.policy = parts_.policy,
                      .known = parts_.view,
                      .nodes = parts_.view,
                      .announcements = parts_.view,
                      .node_lines = parts_.view,
                      .clock = parts_.clock,
                      .prometheus = {},
                      .prometheus_client = parts_.clients.prometheus.get(),
                      .loki = {},
                      .loki_client = parts_.clients.loki.get(),
                      .signs = &parts_.view,
                      .scrapes = scrapes_.get(),
                      .triage = &parts_.triage,
                      .api = *parts_.apis.work};
  if (flags.prometheus_alerts)
    sources.prometheus = {.url = flags.prometheus_url, .every = flags.monitor_interval};
  if (!flags.loki_url.empty()) {
    sources.loki = {.place = {.url = flags.loki_url, .tenant = flags.loki_tenant},
                    .namespaces = flags.loki_namespaces,
                    .state_namespace = flags.state_namespace,
                    .triage = &parts_.triage};
  }
  for (auto& source : make_sources(sources)) {
    polls_.push_back(
        std::make_unique<SourcePoll>(std::move(source), SourcePollParts{.intake = intake_,
                                                                        .clock = parts_.clock,
                                                                        .leads = parts_.leads,
                                                                        .on_error = parts_.on_error,
                                                                        .log = parts_.log}));
  }
}

std::vector<http::Route> EvidenceSources::webhook_routes(http::Access access) {
  const auto alerts = [this](const http::Request& request) { return webhook_->handle(request); };
  const auto event = [this](const http::Request& request) {
    return webhook_->handle_event(request);
  };
  return {{.path = "/api/v1/alerts", .methods = {"POST"}, .handler = alerts, .access = access},
          {.path = "/api/v1/events", .methods = {"POST"}, .handler = event, .access = access}};
}

std::vector<SourceCounts> EvidenceSources::counts() const {
  std::vector<SourceCounts> counts;
  for (const auto& poll : polls_) counts.push_back(poll->counts());
  return counts;
}

void EvidenceSources::request_stop() {
  webhook_->close();
  for (const auto& poll : polls_) poll->request_stop();
  connections_->request_stop();
}

}  // namespace gpuward::remediator
