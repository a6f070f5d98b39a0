// Drains nodes, one check at a time: lists a node's pods, makes the round, passes the due removals
// to the evictor, and reports the progress. It remembers only the results of requests. A new
// process can start without them. Used by the step `drain`.
//
// Pods are listed by the node's name, and a Node of another machine may have that name now. So the
// Node is read after the list is complete, before each eviction (by the permit) and before the
// drain ends. If the Node then has the recorded UID, no later Node of the name existed when the
// list was made, and no listed pod belongs to a later Node. Later events can bring pods with the
// same names, but not with a listed UID, and each eviction names the UID of its pod.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/act/drain/drain_plan.h"
#include "remediator/act/drain/drain_round.h"
#include "remediator/act/drain/evictor.h"

namespace gpuward::remediator {

struct DrainRequest {
  std::string node;
  // The UID of the Remediation's node. Another Node may have the name now; see the top of this
  // file.
  std::string node_uid;
  DrainSettings settings;
  kube::WallTime started_at;  // Start time in the record. Another start time means another drain.
  // How long the drain has run (act/step_clock.h). The deadline and all waits use this time.
  std::chrono::milliseconds elapsed{0};
  Permit permit;  // Must also read the Node, and refuse if its UID is not node_uid.
  bool node_is_unreachable = false;
  std::string own_pod;                   // "namespace/name" of this process; empty outside a pod.
  std::vector<kube::Taint> taints = {};  // Taints of the node, including the taint of the cordon.
  // Read from the record, so that a change of the leader keeps it.
  EvictedAgain again = {};
};

// Pods on a drained node that must be gone before the next step disrupts the node.
struct DrainUndone {
  std::string summary;
  // False: a disruption budget protects the pods, and they would come back.
  bool can_be_drained = false;
};

struct DrainProgress {
  DrainState verdict = DrainState::kGoingOn;
  std::string summary;            // For the status; the same while nothing changes.
  std::vector<std::string> left;  // See DrainRound::left.
  // Jobs that lose their first pods by this call. The caller reports each job once.
  std::vector<AffectedJob> starting_jobs;
  EvictedAgain again;  // Includes the evictions of this call.
  // True once if no pod has moved for some time and none will without outside help.
  bool is_newly_held = false;
  std::chrono::milliseconds look_again{0};  // for kGoingOn
};

class Drainer {
 public:
  // The arguments must outlive the drainer.
  Drainer(kube::Api& api, Evictor& evictor, Clock& clock);
  ~Drainer();
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  // Makes one check of the drain. One call per node at a time; calls for several nodes may run at
  // once. The caller repeats it after the returned interval or earlier. An error means that the
  // pods could not be listed, or that the Node is gone or is another one (kConflict). The state of
  // the drain is then unknown.
  [[nodiscard]] Result<DrainProgress> advance(const DrainRequest& request);
  // Returns the pods that make the drain of this request no longer valid; nullopt if there are
  // none. Called right before a step that relies on the drain. Lists the pods without a cache.
  // `accepted_until` is the time at which the deadline let the plan continue with pods left: older
  // pods are accepted, unless they now ask not to be disrupted. Sends evictions as dry runs only.
  // Has the errors of advance().
  [[nodiscard]] Result<std::optional<DrainUndone>> undone(
      const DrainRequest& request, const std::optional<kube::WallTime>& accepted_until);
  // Ends the node's drain. Waiting removals are not sent.
  void forget(const std::string& node);
  [[nodiscard]] std::size_t remembered() const;  // Number of nodes.

 private:
  struct Memory;
  [[nodiscard]] Result<DrainProgress> look(const DrainRequest& request, Memory& memory,
                                           const kube::Api::PodSource& source);
  [[nodiscard]] Status check_node(const DrainRequest& request);
  [[nodiscard]] static bool may_be_believed(const DrainProgress& progress, const Memory& memory);
  [[nodiscard]] std::unique_ptr<Memory> take_memory(const DrainRequest& request);
  [[nodiscard]] std::unique_ptr<Memory> extract_memory(const std::string& node);
  void forget_old(Clock::Steady now);
  [[nodiscard]] std::chrono::milliseconds look_again(const DrainRequest& request,
                                                     const DrainRound& round,
                                                     const Memory& memory) const;
  void put_back(const std::string& node, std::unique_ptr<Memory> memory);
  [[nodiscard]] DrainProgress progress_of(const DrainRequest& request,
                                          const std::vector<kube::Pod>& pods, Memory& memory);
  void withdraw_unwanted(const DrainRequest& request, const DrainPlan& plan, Memory& memory);
  [[nodiscard]] std::set<std::string> send(const DrainRequest& request, const DrainRound& round,
                                           const DrainPlan& plan, Memory& memory);

  kube::Api& api_;
  Evictor& evictor_;
  Clock& clock_;
  mutable std::mutex mutex_;
  // By node; an entry is missing while a call uses it.
  std::map<std::string, std::unique_ptr<Memory>> memories_;
};

}  // namespace gpuward::remediator
