// One process of the remediator, made of the product's own parts. Its memory ends with it. The
// scheduler plays the threads of the informers and of the queue, one call at a time.
#pragma once

#include <map>
#include <set>
#include <string>

#include "core/kube/api.h"
#include "core/kube/leader_candidate.h"
#include "remediator/act/actions/collect_evidence_action.h"
#include "remediator/act/actions/gpu_reset_action.h"
#include "remediator/act/actions/nccl_pairs_action.h"
#include "remediator/act/actions/notify_action.h"
#include "remediator/act/actions/out_of_service_action.h"
#include "remediator/act/actions/quarantine_job_action.h"
#include "remediator/act/actions/reboot_action.h"
#include "remediator/act/actions/restart_job_action.h"
#include "remediator/act/actions/terminate_action.h"
#include "remediator/act/actions/verify_action.h"
#include "remediator/act/controller.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/gates/fenced_client.h"
#include "remediator/cluster/gates/restored_state.h"
#include "remediator/cluster/gates/stop_switch.h"
#include "remediator/cluster/known_replacements.h"
#include "remediator/decide/budgets/ledger_slots.h"
#include "remediator/inbox/older_alerts.h"
#include "remediator/inbox/orphaned_taints.h"
#include "remediator/inbox/remediation_intake.h"
#include "remediator/inbox/returned_machines.h"
#include "remediator/inbox/sources/confirmed_ends.h"
#include "remediator/notify/notifier.h"
#include "tests/simulation/bent_steps.h"
#include "tests/simulation/forgets_claims.h"
#include "tests/simulation/informers.h"
#include "tests/simulation/other_sources.h"
#include "tests/simulation/pod_drain.h"
#include "tests/simulation/pulse.h"
#include "tests/simulation/soaked_verify.h"
#include "tests/simulation/step_jobs.h"
#include "tests/simulation/told.h"
#include "tests/simulation/torn_jobs.h"
#include "tests/simulation/wire.h"

namespace gpuward::remediator::simulation {

class NoCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

class Silence final : public ReconcileObserver {
 public:
  void on_audit(const AuditRecord&) override {}
  void on_error(const std::string&, const Error&) override {}
};

// The outside world that all replicas share.
struct Outside {
  HealthReports& reports;
  CloudProvider& cloud;
  Slots* slots;          // replaces the ledger's slots; null: uses those
  ActiveAlerts* alerts;  // null: there is no Alertmanager to query
  StepActions steps;
  Announcer& announcer;
  ApprovalGuard* guard = nullptr;
  ScrapeStates* scrapes = nullptr;
  AnsweringPlaces* places = nullptr;  // the servers that the other sources query; null: none
  Notifications* sinks = nullptr;     // null: no notifications are configured
};

// Passes on one node after the other; the product does it on several threads.
class OneByOne final : public Intake {
 public:
  explicit OneByOne(Intake& intake) : intake_(intake) {}
  [[nodiscard]] Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                          Clock::Steady deadline) override;

 private:
  Intake& intake_;
};

// Lets others act while a replica waits for an answer, or stalls for that long.
struct Meanwhile {
  std::function<void()> interrupt;
  std::function<void(std::chrono::milliseconds)> stall;
};

class Replica {
 public:
  // `life`: the number of processes so far, this one included.
  Replica(Stage& stage, Invariants& invariants, const Outside& outside, std::string name, int life,
          Meanwhile meanwhile);

  // Receives the next `count` changes of the cluster.
  void hear(std::size_t count);
  // Does what the lease thread and the slow round of the leader have due now.
  void go_on();
  // Ends in order and gives the lease back.
  void stop();
  // etcd was restored, and the replica has done all that it must do before it ends, so that the
  // next process remembers nothing from before.
  [[nodiscard]] bool is_over() const { return is_over_; }
  // Does nothing if it does not lead: the next leader looks at every node.
  void reconcile(std::string node);
  [[nodiscard]] Result<IntakeCounts> take(AlertSignal signal);
  // The firing evidence that the replica has.
  [[nodiscard]] std::vector<AlertSignal> known_to_fire() const { return view_.firing_from({}); }
  // Makes every node with an open Remediation due.
  void resync();

  [[nodiscard]] const ClusterView& view() const { return view_; }
  [[nodiscard]] std::map<std::string, Clock::Steady>& due() { return due_; }
  [[nodiscard]] const std::string& name() const { return look_.who; }
  [[nodiscard]] const std::string& identity() const { return look_.identity; }
  // The version up to which it has received all changes.
  [[nodiscard]] Version heard() const { return informers_.heard(); }
  [[nodiscard]] bool leads() const { return candidate_.is_leader(); }
  [[nodiscard]] Clock::Steady next_round() const { return round_due_; }
  [[nodiscard]] bool is_busy() const { return is_busy_; }
  [[nodiscard]] bool is_taking() const { return is_taking_; }

 private:
  class Turn;
  void listen();
  void note_heard();
  void remember(const std::string& node);
  void forget_who_waits();
  [[nodiscard]] Remediation as_told(const Remediation& remediation) const;
  [[nodiscard]] Replacements& replacements();
  [[nodiscard]] StepAction* own_step(Step step);  // null: another part plays the step
  void collect_queue();
  [[nodiscard]] bool may_write() const { return leads() || stage_.is_off(Sabotage::kFence); }
  [[nodiscard]] bool may_call() const { return leads() || stage_.is_off(Sabotage::kCallFence); }
  void before_request();
  void stand();
  void keep();
  void note_restore(const std::string& why);
  [[nodiscard]] bool begin_anew();
  void take_in_returned();
  void hear_others();
  void note_open();
  void sweep();
  [[nodiscard]] kube::ApiOptions options_with(std::chrono::milliseconds request,
                                              std::chrono::milliseconds retries);
  [[nodiscard]] std::string words_of(const Error& error) const;

  Stage& stage_;
  Look look_;
  bool is_busy_ = false, is_taking_ = false, is_over_ = false;
  RestoredState restored_;
  Clock::Steady deaf_until_{};
  std::map<std::string, Clock::Steady> due_;
  NoCredentials credentials_;
  Silence observer_;
  std::function<void(std::chrono::milliseconds)> stall_;
  Wire wire_;
  FencedClient fence_;
  Pulse pulse_;
  kube::Api api_, intake_api_, switch_api_, lease_api_;
  kube::LeaderCandidate candidate_;
  StopSwitch switch_;
  RemediationStore store_, intake_store_;
  ClusterView view_;
  WorkQueue queue_;
  LedgerStore ledger_;
  LedgerSlots slots_;
  RemediationIntake intake_;
  OlderAlerts older_;
  OneByOne one_by_one_{older_};
  std::unique_ptr<ConfirmedEnds> confirmed_ends_;  // null: there is no Alertmanager to query
  const CurrentPolicy unsoaked_;
  ReturnedMachines returned_;
  OrphanedTaints orphaned_;
  RebootAction reboot_;
  BeginsAgain begins_again_{reboot_};
  GivesUp gives_up_{reboot_};
  TerminateAction end_;
  BeginsAgain ends_again_{end_};
  Impatient ends_at_once_{end_};
  KnownReplacements known_replacements_{view_, store_};
  ForgetsClaims no_claims_{known_replacements_};
  VerifyAction verify_;
  SoakedVerify soaked_;
  NcclPairsAction pairs_{api_, stage_.policy, view_};
  GpuResetAction reset_{api_, stage_.policy};
  CollectEvidenceAction evidence_{api_, stage_.policy};
  QuarantineJobAction diagnostics_{api_, stage_.policy};
  RestartJobAction restart_{api_};
  KeepsJobs restarts_{stage_, restart_};
  Unasked resets_{stage_, reset_}, collects_{stage_, evidence_}, tests_{stage_, diagnostics_};
  PodDrain drain_;
  ExclusionStore exclusions_;
  NotifyAction notify_;
  LonelyNode signs_{stage_, view_};
  NotedProofs proofs_;
  OutOfServiceAction moves_{api_, &proofs_};
  Reconciler reconciler_;
  RetryTimes retries_{stage_.clock, 1};
  Informers informers_;
  std::unique_ptr<OtherSources> others_;  // null: there are none
  Clock::Steady round_due_, keep_due_, returned_due_;
  bool has_led_ = false;
};

}  // namespace gpuward::remediator::simulation
