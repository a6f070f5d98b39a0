// The threads of the workflow: two informers that keep the ClusterView fresh, a few workers that
// reconcile the nodes in the queue, and a slow round over all open Remediations in case an event
// was lost.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/kube/api.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/work_queue.h"
#include "remediator/execution/observer.h"
#include "remediator/execution/reconciler.h"
#include "remediator/policy/current_policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/records/view_feed.h"

namespace gpuward::remediator {

struct ControllerOptions {
  std::size_t workers = 16;
  std::chrono::milliseconds resync_every{60'000};
};

// All must outlive the controller.
struct ControllerParts {
  kube::Api& api;
  ClusterView& view;
  WorkQueue& queue;
  Reconciler& reconciler;
  CurrentPolicy& policy;
  std::function<Status()> keep;              // the upkeep of the ledger, with every slow round
  std::function<Status()> take_in_returned;  // machines; with every slow round, and at once
  std::function<Status()> sweep;  // taint and cordon without a record; with every slow round
  // Whether this replica is the one that acts; the others watch only.
  std::function<bool()> leads;
  // Once etcd was restored from a backup: what is known need not be true any more.
  std::function<void(const std::string& why)> on_went_back;
  WorkflowObserver& observer;
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

  // Any thread. Looks at every node with an open Remediation: the policy has changed.
  void look_at_all();
  void request_stop();

 private:
  void work(const std::stop_token& stop);
  void reconcile(const std::string& node);
  [[nodiscard]] std::chrono::milliseconds wait_after(const std::string& node, ErrorKind kind);
  void resync(const std::stop_token& stop);
  void take_in_returned();
  [[nodiscard]] ViewFeed feed() const;
  void follow_nodes(const std::stop_token& stop);
  void follow_remediations(const std::stop_token& stop);

  ControllerOptions options_;
  ControllerParts parts_;
  std::mutex mutex_;
  std::map<std::string, Backoff> backoffs_;  // of nodes whose last reconcile failed
  std::vector<std::jthread> threads_;
};

}  // namespace gpuward::remediator
