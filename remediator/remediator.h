// The whole remediator, put together: webhook -> intake -> Remediations -> controller -> nodes,
// with metrics and audit at the side. Made by main(); all threads end with it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "core/aws/client.h"
#include "core/http/client/client.h"
#include "core/http/server/server.h"
#include "core/kube/leader.h"
#include "core/metrics/family.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/file_watch.h"
#include "core/runtime/log.h"
#include "core/runtime/work_queue.h"
#include "remediator/actions/announcer.h"
#include "remediator/actions/step_actions.h"
#include "remediator/budgets/ledger_slots.h"
#include "remediator/config/cluster.h"
#include "remediator/config/flags.h"
#include "remediator/config/source_clients.h"
#include "remediator/execution/controller.h"
#include "remediator/execution/guard_probe.h"
#include "remediator/execution/reconciler.h"
#include "remediator/gates/restored_state.h"
#include "remediator/gates/stop_switch.h"
#include "remediator/intake/orphaned_marks.h"
#include "remediator/intake/remediation_intake.h"
#include "remediator/intake/returned_machines.h"
#include "remediator/notify/notifier.h"
#include "remediator/page/audit.h"
#include "remediator/page/counters.h"
#include "remediator/page/guard_watch.h"
#include "remediator/page/readiness.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/known_replacements.h"
#include "remediator/sources/alertmanager_api.h"
#include "remediator/sources/alertmanager_poll.h"
#include "remediator/sources/alertmanager_webhook.h"
#include "remediator/sources/confirmed_ends.h"
#include "remediator/sources/prometheus_reports.h"
#include "remediator/sources/source_parts.h"
#include "remediator/sources/source_poll.h"
#include "remediator/triage/triage.h"
#include "remediator/witness.h"

namespace gpuward::remediator {

class Remediator {
 public:
  // kInvalid for a configuration that cannot work; kUnavailable where an address is taken. A dead
  // API server is no reason not to start: the webhook then answers 503. Clock and log must outlive
  // it.
  [[nodiscard]] static Result<std::unique_ptr<Remediator>> start(const Flags& flags, Clock& clock,
                                                                 Log& log);
  ~Remediator();
  Remediator(const Remediator&) = delete;
  Remediator& operator=(const Remediator&) = delete;

  // Main thread, at SIGHUP: the audit trail goes on in the file of its name, which logrotate may
  // have moved away, and the policy is read again.
  void hang_up();
  // Main thread. Reads the policy again; a wrong one is said and the old one kept.
  void reload();
  // Main thread, once a second.
  void tick();
  // Main thread, after tick(): whether the process is to end, so that another begins anew.
  [[nodiscard]] bool is_over() const { return is_over_; }
  // Main thread. The webhook answers 503 from now on, and all threads are told to end.
  void request_stop();

  [[nodiscard]] const std::vector<int>& webhook_ports() const { return webhook_server_->ports(); }
  [[nodiscard]] const std::vector<int>& telemetry_ports() const { return telemetry_->ports(); }

 private:
  Remediator(Flags flags, Policy policy, std::unique_ptr<AuditTrail> audit,
             std::unique_ptr<Cluster> cluster, Clock& clock, Log& log);
  void assemble();
  [[nodiscard]] Status serve(const WebhookSecurity& security);
  [[nodiscard]] std::unique_ptr<kube::Api> make_leaders_api(Deadlines deadlines);
  [[nodiscard]] std::unique_ptr<kube::LeaderElection> stand_for_election();
  void start_sources();
  [[nodiscard]] std::vector<std::string> names_of_what_fires(const std::string& node) const;
  // Why this replica is not ready; nullopt where it is.
  [[nodiscard]] std::optional<std::string> objection() const;
  // The parts of a policy that open files and threads of their own.
  [[nodiscard]] Status adopt(const Policy& policy);
  [[nodiscard]] std::vector<metrics::Family> families() const;
  // Why nothing may be changed at this moment, for any node.
  [[nodiscard]] Status permit();
  // The cluster's state has gone back to a backup: opens the circuit breaker, and is over then.
  void begin_anew(const RestoredState::Notice& notice);
  // The controller's, with every slow round of the replica that leads.
  [[nodiscard]] Status keep_ledger();

  Flags flags_;
  Clock& clock_;
  Log& log_;
  std::stop_source stop_;
  CurrentPolicy policy_;
  std::optional<FileWatch> policy_watch_;
  std::atomic<bool> last_reload_good_{true};
  std::atomic<bool> ledger_kept_{true}, stopped_{false};  // as keep_ledger() has found
  RestoredState restored_;
  bool is_over_ = false;  // of the main thread
  std::atomic<Clock::Wall> last_good_reload_;
  Counters counters_;
  std::unique_ptr<AuditTrail> audit_;
  Witness witness_;
  std::unique_ptr<Cluster> cluster_;
  // Each user has a client with the deadlines that it needs; those of the work write nothing unless
  // this replica leads.
  std::unique_ptr<kube::Api> work_api_, intake_api_, event_api_, probe_api_, ledger_api_,
      drain_api_, switch_api_, lease_api_;
  RemediationStore work_store_, intake_store_;
  ClusterView view_;
  KnownReplacements replacements_{view_, work_store_};
  WorkQueue queue_;
  http::CurlClient aws_http_;
  aws::AwsClient aws_;
  Notifier notifier_;
  Triage triage_;
  SourceClients sources_;
  std::unique_ptr<PrometheusReports> reports_;
  std::unique_ptr<AlertmanagerApi> alertmanager_;
  std::unique_ptr<RemediationIntake> intake_;
  std::unique_ptr<ReturnedMachines> returned_;
  std::unique_ptr<OrphanedMarks> orphaned_;
  std::unique_ptr<AlertmanagerPoll> poll_;
  std::unique_ptr<ConfirmedEnds> confirmed_ends_;
  std::unique_ptr<EventAnnouncer> announcer_;
  // Ends after all that needs the lead.
  std::unique_ptr<kube::LeaderElection> election_;
  ExclusionStore exclusions_;
  StopSwitch stop_switch_;
  GuardProbe guard_probe_;
  LedgerStore ledger_;
  LedgerSlots slots_;
  Evictor evictor_;
  Drainer drainer_;
  std::unique_ptr<CloudProvider> machines_;
  StepTable steps_;
  std::unique_ptr<Reconciler> reconciler_;
  std::unique_ptr<AlertmanagerWebhook> webhook_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<Readiness> readiness_;
  std::unique_ptr<GuardWatch> guard_watch_;
  std::vector<std::unique_ptr<SourcePoll>> source_polls_;
  std::unique_ptr<http::Server> telemetry_, webhook_server_;
};

}  // namespace gpuward::remediator
