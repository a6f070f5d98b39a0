// Drains nodes, one check at a time: lists a node's pods, makes the round, hands the due removals
// to the evictor, and reports the progress. It remembers only tries; a new process starts them
// over, and nothing is lost by that. Used by the step `drain`.
//
// Pods are listed by the node's name, and a Node of another machine may have that name now. So the
// Node is read after the list is complete, before each eviction (by the permit) and before the
// drain ends (here). If it has the Remediation's UID then, no later Node of the name existed when
// the list was made, and every pod in it was bound before there was one. Events after that read can
// bring other pods under the same names, but none with a listed UID, and each eviction is bound to
// the UID of its pod.
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
#include "remediator/drain/drain_plan.h"
#include "remediator/drain/drain_round.h"
#include "remediator/drain/evictor.h"

namespace gpuward::remediator {

struct DrainRequest {
  std::string node;
  // The UID of the Remediation's node. Another Node may have the name now: see above.
  std::string node_uid;
  DrainSettings settings;
  kube::WallTime started_at;  // from the record: another one is another drain
  // How long the drain has run (execution/step_clock.h): its deadline and its waits count this.
  std::chrono::milliseconds elapsed{0};
  Permit permit;  // must also read the Node, and refuse if its UID is not node_uid
  bool node_is_unreachable = false;
  std::string own_pod;                   // "namespace/name" of this process; empty: not in a pod
  std::vector<kube::Taint> taints = {};  // of the node, with the cordon's
  EvictedAgain again = {};               // from the record, and so kept over a change of the leader
};

// Pods on a drained node that must be gone before the next step disrupts it.
struct DrainUndone {
  std::string summary;
  bool can_be_drained = false;  // false: a disruption budget protects it, and it would come back
};

struct DrainProgress {
  DrainState verdict = DrainState::kGoingOn;
  std::string summary;            // for the status; the same while nothing changes
  std::vector<std::string> left;  // see DrainRound
  // Jobs whose pods this call is the first to remove: to be reported once.
  std::vector<AffectedJob> starting_jobs;
  EvictedAgain again;  // counts the evictions of this call too
  // Nothing has moved for some time, and nothing will without outside help: to be reported once.
  bool is_newly_held = false;
  std::chrono::milliseconds look_again{0};  // for kGoingOn
};

class Drainer {
 public:
  // All must outlive it.
  Drainer(kube::Api& api, Evictor& evictor, Clock& clock);
  ~Drainer();
  Drainer(const Drainer&) = delete;
  Drainer& operator=(const Drainer&) = delete;

  // One call a node at a time, several nodes at once; the caller repeats it after the returned
  // interval, or earlier. An error means that the pods could not be listed, or that the Node is
  // gone or is another one (kConflict); the state of the drain is then unknown.
  [[nodiscard]] Result<DrainProgress> advance(const DrainRequest& request);
  // Called right before a step that relies on the drain of this request: lists the pods, none from
  // a cache. nullopt: no pod has come since that the drain would wait for. If the deadline let the
  // plan continue with pods left, `accepted_until` is when: pods that were created before are
  // accepted, unless they now ask not to be disrupted. Sends evictions as dry runs only. Errors as
  // for advance().
  [[nodiscard]] Result<std::optional<DrainUndone>> undone(
      const DrainRequest& request, const std::optional<kube::WallTime>& accepted_until);
  // Ends the node's drain: removals that wait are not sent.
  void forget(const std::string& node);
  [[nodiscard]] std::size_t remembered() const;  // nodes

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
  std::map<std::string, std::unique_ptr<Memory>> memories_;  // by node, while no call uses them
};

}  // namespace gpuward::remediator
