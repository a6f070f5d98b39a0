// Makes alert signals durable: finds the node's open Remediation or opens one, folds the alert
// signals in and writes the changes, with compare-and-set. A repeat costs no request. Used by the
// sources through Intake; the replay uses the pure part.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/work_queue.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/model/evidence.h"

namespace gpuward::remediator {

struct IgnoredSignal {
  AlertSignal signal;
  Ignored reason = Ignored::kNoSuchNode;
};

struct FoldedSignals {
  Remediation remediation;
  IntakeCounts counts = {};
  std::vector<IgnoredSignal> ignored = {};
  bool is_new = false;
  bool changed = false;  // The Remediation must be written.
};

// Returns whether the alert began before the Node was registered.
[[nodiscard]] bool is_older_than_node(const AlertSignal& signal, const NodeIdentity& node);

// Applies alert signals to the Remediations of their node: the result is a new Remediation, a
// changed one, or no change. Pure.
//
// `known`: all Remediations of that node UID, oldest first. `earlier`: those of the same machine
// under its earlier Nodes; needed if a signal is older than the Node. `last_number`: the highest
// number known in a name of that node UID's Remediations, deleted ones included.
//
// If more than one is open, each gets the signals, one per call: the result is the first that
// changes, and the caller calls again after writing it.
[[nodiscard]] FoldedSignals fold_signals(const NodeIdentity& node,
                                         std::span<const Remediation> known,
                                         std::span<const AlertSignal> signals, WallTime now,
                                         std::span<const Remediation> earlier = {},
                                         int last_number = 0);

// Remembers the ends of recent alerts, to recognise firing copies that arrive later, out of order
// or repeated by a retry. An open Remediation with the alert remembers its end longer. Bounded; the
// memory is lost with the process. Thread-safe.
class RecentEnds {
 public:
  static constexpr std::size_t kMost = 10'000;

  // Remembers an end. Ignores an end with a start in the future by gpuward's clock, because a
  // sender may have guessed it.
  void note(const AlertSignal& ended, const Clock& clock);
  // Returns whether `firing` belongs to an episode with an end that arrived within kLateRepeats:
  // the same alert with the same start. To suppress an alert, a sender of a forged end must know
  // the start to the nanosecond before the alert's notification arrives.
  [[nodiscard]] bool has_ended(const AlertSignal& firing, Clock::Steady now);

 private:
  using Episode = std::pair<std::string, WallTime>;  // Node and fingerprint, start.

  void forget_old(Clock::Steady now);

  std::mutex mutex_;
  std::map<Episode, Clock::Steady> ends_;  // Times of arrival.
};

class RemediationIntake final : public Intake {
 public:
  // The arguments must outlive the intake. It puts nodes with a changed Remediation into `queue`.
  // `observer` gets the ignored signals and may be null.
  RemediationIntake(ClusterView& view, RemediationStore& store, WorkQueue& queue, Clock& clock,
                    IntakeObserver* observer = nullptr);

  // Returns kUnavailable before the first complete view of the cluster, kOverloaded if the queue is
  // full.
  [[nodiscard]] Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                          Clock::Steady deadline) override;

 private:
  [[nodiscard]] Result<IntakeCounts> take_node(std::span<const AlertSignal> signals,
                                               Clock::Steady deadline);
  [[nodiscard]] Result<IntakeCounts> write_until_settled(const NodeIdentity& node,
                                                         std::span<const AlertSignal> signals,
                                                         Clock::Steady deadline);
  // Passes ends to open Remediations of an earlier Node of the same name too.
  [[nodiscard]] Status end_those_of_former_node(const NodeIdentity& node,
                                                std::span<const AlertSignal> signals,
                                                Clock::Steady deadline);

  void report_ignored(const FoldedSignals& folded) const;

  ClusterView& view_;
  RemediationStore& store_;
  WorkQueue& queue_;
  Clock& clock_;
  IntakeObserver* observer_;
  RecentEnds ends_;
  // Allows one writer per node in this process; writers of other replicas collide in the API
  // server. A thread holds a lock no longer than a deadline, and writes nothing after its own
  // deadline.
  std::array<std::mutex, 64> node_locks_;
};

}  // namespace gpuward::remediator
