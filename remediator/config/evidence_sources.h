// All sources of evidence: the webhook, the poll of the Alertmanager, and the enabled polled
// sources, together with the exporters' reports from Prometheus. Made by the composition root.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "remediator/act/proof_reader.h"
#include "remediator/cluster/cluster.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/config/flags.h"
#include "remediator/config/source_clients.h"
#include "remediator/inbox/connection_watch.h"
#include "remediator/inbox/older_alerts.h"
#include "remediator/inbox/sources/alertmanager_api.h"
#include "remediator/inbox/sources/alertmanager_poll.h"
#include "remediator/inbox/sources/alertmanager_webhook.h"
#include "remediator/inbox/sources/confirmed_ends.h"
#include "remediator/inbox/sources/prometheus_reports.h"
#include "remediator/inbox/sources/prometheus_scrapes.h"
#include "remediator/inbox/sources/source_poll.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The arguments must outlive the sources.
struct EvidenceParts {
  const Flags& flags;
  SourceClients& clients;
  CurrentPolicy& policy;
  ClusterView& view;
  ApiClients& apis;
  Intake& intake;
  Triage& triage;
  CloudProvider& machines;
  WebhookObserver& webhook_observer;
  IntakeObserver& intake_observer;
  std::function<void(const Error&)> on_error;
  std::function<bool()> leads;
  Clock& clock;
  Log& log;
};

class EvidenceSources {
 public:
  // Starts the threads of the sources; the destructor joins them.
  explicit EvidenceSources(EvidenceParts parts);

  // Returns null if no Prometheus is configured.
  [[nodiscard]] HealthReports* reports() { return reports_.get(); }
  // Returns the source of the proofs that the machine of a silent node is down.
  [[nodiscard]] ProofSource* proofs() { return &proofs_; }
  // Returns null if no Alertmanager is configured.
  [[nodiscard]] ActiveAlerts* alerts() { return poll_.get(); }
  // Makes the webhook answer 503 from now on.
  void close_webhook() { webhook_->close(); }
  // Returns the routes that receive alerts and events. This object must outlive the server of the
  // routes.
  [[nodiscard]] std::vector<http::Route> webhook_routes(http::Access access);
  [[nodiscard]] std::vector<SourceCounts> counts() const;
  // Notes that the webhook's server has answered with `status`, rejected requests included.
  // Thread-safe.
  void note_answer(int status) { connections_->note_answer(status); }
  // Makes the webhook answer 503 from now on, and asks the threads of the sources to end.
  void request_stop();

 private:
  void start_polls();
  void watch_connections();

  EvidenceParts parts_;
  std::unique_ptr<PrometheusReports> reports_;
  std::unique_ptr<PrometheusScrapes> scrapes_;
  ProofReader proofs_;
  OlderAlerts intake_;
  std::unique_ptr<AlertmanagerApi> alertmanager_;
  std::unique_ptr<AlertmanagerPoll> poll_;
  std::unique_ptr<ConfirmedEnds> confirmed_ends_;
  std::unique_ptr<AlertmanagerWebhook> webhook_;
  std::vector<std::unique_ptr<SourcePoll>> polls_;
  std::unique_ptr<ConnectionWatch> connections_;
};

}  // namespace gpuward::remediator
