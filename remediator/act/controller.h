// The control loop, built like a Kubernetes controller. Two informers update the ClusterView, and a
// few workers take nodes from the queue and reconcile them. A slow round over all open Remediations
// makes up for lost events.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/work_queue.h"
#include "remediator/act/case.h"
#include "remediator/act/case_records.h"
#include "remediator/act/observer.h"
#include "remediator/act/pending_records.h"
#include "remediator/act/reconciler_parts.h"
#include "remediator/act/retry_times.h"
#include "remediator/act/step_execution.h"
#include "remediator/act/taint_and_cordon.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/view_feed.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The outcome of one pass over all Remediations of a node.
struct NodeLook {
  // nullopt: check again when something changes.
  std::optional<std::chrono::milliseconds> look_again;
  std::vector<Error> errors;  // One error for each Remediation that must be tried again.

  explicit operator bool() const { return errors.empty(); }
};

// Reconciles a node in one pass: reads the case, decides, carries out and records the decision, and
// notifies. Each part is its own class, and no part calls the Reconciler. A pass may be interrupted
// at any point; the next pass continues from there.
class Reconciler {
 public:
  explicit Reconciler(ReconcilerParts parts) : parts_(std::move(parts)) {}

  // Reconciles each Remediation of the node. A failure of one Remediation does not affect the
  // others. With `retries`, a failed Remediation waits for its own retry time. The caller makes one
  // call per node at a time; calls for several nodes may run at once.
  [[nodiscard]] NodeLook reconcile(const std::string& node, RetryTimes* retries = nullptr);
  // Forgets all step clocks. Called in the first slow round after this replica became leader,
  // because another replica may have led before.
  void begin_to_lead() { step_clock_.forget_all(); }
  // The leader calls both functions in each slow round (out_of_service_taints.h, left_operands.h).
  [[nodiscard]] Status take_off_out_of_service();
  [[nodiscard]] Status resume_left_operands();

 private:
  [[nodiscard]] LookAgain reconcile_one(const std::string& name,
                                        const std::shared_ptr<const Policy>& policy);
  template <typename AnyCase>
  [[nodiscard]] LookAgain go_on(AnyCase& decided);
  [[nodiscard]] Status carry_out(Case& now);
  [[nodiscard]] Status carry_out(FreshCase& now);
  [[nodiscard]] Status give_back_jobs(Case& now);
  [[nodiscard]] LookAgain notify(Case& now, const std::string& seen);
  [[nodiscard]] LookAgain finish_closed(Case& now);
  [[nodiscard]] bool weighs_evidence(const Case& now) const;
  [[nodiscard]] Status weigh_evidence(Case& now);
  void forget(const std::string& name);

  const ReconcilerParts parts_;
  CaseReader reader_{parts_};
  CaseDecider decider_{parts_};
  PendingRecords pending_{parts_};
  CaseRecords records_{parts_, pending_};
  StepPermits permits_{parts_, reader_, decider_};
  StepClock step_clock_{parts_.clock, parts_.permit};
  StepExecution steps_{parts_, decider_, records_, permits_, step_clock_};
  TaintAndCordon taint_and_cordon_{parts_, reader_, records_, pending_, steps_};
  std::set<std::string> left_operands_;  // Nodes with left operands in the last slow round.
};

struct ControllerOptions {
  std::size_t workers = 16;
  std::chrono::milliseconds resync_every{60'000};
};

// The arguments must outlive the controller.
struct ControllerParts {
  kube::Api& api;
  ClusterView& view;
  WorkQueue& queue;
  Reconciler& reconciler;
  CurrentPolicy& policy;
  std::function<Status()> keep;  // Upkeep of the ledger, in every slow round.
  // Takes in returned machines, in every slow round and at once when a machine may have returned.
  std::function<Status()> take_in_returned;
  // Handles taints and cordons without a record, in every slow round.
  std::function<Status()> sweep;
  // Returns whether this replica is the leader. Only the leader acts.
  std::function<bool()> leads;
  // Called when etcd was restored from a backup, because recorded facts may no longer be true.
  std::function<void(const std::string& why)> on_went_back;
  ReconcileObserver& observer;
  Log& log;
  Clock& clock;
};

class Controller {
 public:
  // Starts the threads; the destructor stops and joins them.
  Controller(ControllerOptions options, ControllerParts parts);
  ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Applies the new policy in force: recomputes the places of the nodes, and reconciles every node
  // with an open Remediation. Thread-safe.
  void take_policy();
  void request_stop();

 private:
  void look_at_all();
  void work(const std::stop_token& stop);
  void reconcile(const std::string& node);
  void resync(const std::stop_token& stop);
  void take_in_returned();
  [[nodiscard]] ViewFeed feed() const;
  void follow_nodes(const std::stop_token& stop);
  void follow_remediations(const std::stop_token& stop);

  ControllerOptions options_;
  ControllerParts parts_;
  RetryTimes retries_;
  std::vector<std::jthread> threads_;
};

}  // namespace gpuward::remediator
