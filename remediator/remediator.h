// The whole remediator: webhook -> intake -> Remediations -> controller -> nodes, with metrics and
// audit beside them. Made by main(); all threads end with it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/aws/client.h"
#include "core/http/client/client.h"
#include "core/http/server/health_listener.h"
#include "core/http/server/server.h"
#include "core/kube/leader.h"
#include "core/metrics/family.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/work_queue.h"
#include "remediator/act/actions/announcer.h"
#include "remediator/act/actions/step_table.h"
#include "remediator/act/controller.h"
#include "remediator/act/guard_probe.h"
#include "remediator/cluster/cluster.h"
#include "remediator/cluster/gates/restored_state.h"
#include "remediator/cluster/gates/stop_switch.h"
#include "remediator/cluster/known_replacements.h"
#include "remediator/config/evidence_sources.h"
#include "remediator/config/flags.h"
#include "remediator/config/load_policy.h"
#include "remediator/config/policy_reload.h"
#include "remediator/config/source_clients.h"
#include "remediator/decide/budgets/ledger_slots.h"
#include "remediator/inbox/orphaned_taints.h"
#include "remediator/inbox/remediation_intake.h"
#include "remediator/inbox/returned_machines.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/notify/notifier.h"
#include "remediator/policy/current_policy.h"
#include "remediator/recorder.h"
#include "remediator/tell/page/audit.h"
#include "remediator/tell/page/counters.h"
#include "remediator/tell/page/guard_watch.h"
#include "remediator/tell/page/readiness.h"
#include "remediator/tell/web/site.h"

namespace gpuward::remediator {

class Remediator {
 public:
  // kInvalid for a configuration that cannot work; kUnavailable if an address is in use. It also
  // starts without an API server: the webhook then answers 503. Clock and log must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Remediator>> start(const Flags& flags, Clock& clock,
                                                                 Log& log);
  ~Remediator();
  Remediator(const Remediator&) = delete;
  Remediator& operator=(const Remediator&) = delete;

  // Main thread, at SIGHUP: reopens the audit trail under its name, because logrotate may have
  // moved the file, and reads the policy again.
  void hang_up();
  // Main thread, once a second. Returns true if the process must exit and be restarted.
  [[nodiscard]] bool tick();
  // Main thread. Stops all threads; from now on the webhook answers 503.
  void request_stop();

  [[nodiscard]] const std::vector<int>& webhook_ports() const { return webhook_server_->ports(); }
  [[nodiscard]] const std::vector<int>& telemetry_ports() const { return telemetry_->ports(); }
  // nullptr without --web.health-address.
  [[nodiscard]] const http::HealthListener* health() const { return health_.get(); }

 private:
  Remediator(Flags flags, WatchedPolicy policy, std::unique_ptr<AuditTrail> audit,
             std::unique_ptr<Cluster> cluster, Clock& clock, Log& log);
  void assemble();
  [[nodiscard]] Status serve(const WebhookSecurity& security, const http::WebConfig& telemetry);
  // Says why this replica is not ready; nullopt if it is.
  [[nodiscard]] std::optional<std::string> objection() const;
  [[nodiscard]] metrics::Families families() const;
  // The cluster was restored from a backup: opens the circuit breaker, and returns true once that
  // is done.
  [[nodiscard]] bool begin_anew(const RestoredState::Notice& notice);
  // Called by the controller in every slow round of the leader.
  [[nodiscard]] Status keep_ledger();

  Flags flags_;
  Clock& clock_;
  Log& log_;
  std::stop_source stop_;
  CurrentPolicy policy_;
  std::atomic<bool> ledger_kept_{true}, stopped_{false};  // results of keep_ledger()
  RestoredState restored_;
  Counters counters_;
  std::unique_ptr<AuditTrail> audit_;
  Recorder recorder_;
  std::unique_ptr<Cluster> cluster_;
  ApiClients apis_;
  RemediationStore work_store_, intake_store_;
  ClusterView view_;
  KnownReplacements replacements_{view_, work_store_};
  WorkQueue queue_;
  http::CurlClient aws_http_;
  aws::AwsClient aws_;
  Notifier notifier_;
  Triage triage_;
  SourceClients sources_;
  std::unique_ptr<RemediationIntake> intake_;
  std::unique_ptr<ReturnedMachines> returned_;
  std::unique_ptr<OrphanedTaints> orphaned_;
  std::unique_ptr<EventAnnouncer> announcer_;
  // Destroyed after all parts that need the leadership.
  std::unique_ptr<kube::LeaderElection> election_;
  std::unique_ptr<EvidenceSources> evidence_;
  ExclusionStore exclusions_;
  StopSwitch stop_switch_;
  GuardProbe guard_probe_;
  LedgerStore ledger_;
  LedgerSlots slots_;
  Evictor evictor_;
  Drainer drainer_;
  PolicyReload reload_;
  Site site_;
  std::unique_ptr<CloudProvider> machines_;
  StepTable steps_;
  std::unique_ptr<Reconciler> reconciler_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<Readiness> readiness_;
  std::unique_ptr<GuardWatch> guard_watch_;
  std::unique_ptr<http::Server> telemetry_, webhook_server_;
  std::unique_ptr<http::HealthListener> health_;
};

}  // namespace gpuward::remediator
