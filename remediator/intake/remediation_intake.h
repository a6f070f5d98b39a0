// Makes alert signals durable: finds the node's open Remediation or opens one, folds the alert
// signals in and writes what is new, with compare-and-set. A repeat costs no request at all. Used
// by the sources through Intake; the pure part by the replay too.
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
#include "remediator/model/evidence.h"
#include "remediator/records/cluster_view.h"
#include "remediator/records/remediation_store.h"
#include "remediator/sources/intake.h"

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
  bool changed = false;  // it has to be written
};

// An alert that began before the Node was registered.
[[nodiscard]] bool is_older_than_node(const AlertSignal& signal, const NodeIdentity& node);

// What alert signals make of what is known of their node: a new Remediation, a changed one, or
// nothing. Pure.
//
// `known`: all Remediations of that node UID, oldest first. `earlier`: those of the same machine
// under its earlier Nodes; needed where a signal is older than the Node. `last_number`: the highest
// that one of that node UID is known to have had in its name, be it deleted.
//
// Where more than one is open each is told, one at a time: the first of them that changes is the
// result, and who has written it asks again.
[[nodiscard]] FoldedSignals fold_signals(const NodeIdentity& node,
                                         std::span<const Remediation> known,
                                         std::span<const AlertSignal> signals, WallTime now,
                                         std::span<const Remediation> earlier = {},
                                         int last_number = 0);

// Ends of alerts that came a moment ago, whose firing may come later still: out of order, or again
// by a retry. Where a Remediation is open and knows the alert, that remembers it longer. Memory of
// this process only, bounded. Any thread.
class RecentEnds {
 public:
  static constexpr std::size_t kMost = 10'000;

  // An end is not noted if its start is still to come by our clock: a sender may have guessed it.
  void note(const AlertSignal& ended, const Clock& clock);
  // Whether `firing` is of an episode whose end came within kLateRepeats: the same alert with the
  // same start. A sender that forges an end to keep an alert out must know its start to the
  // nanosecond, after the alert has begun and before its notification comes.
  [[nodiscard]] bool has_ended(const AlertSignal& firing, Clock::Steady now);

 private:
  using Episode = std::pair<std::string, WallTime>;  // node and fingerprint, start

  void forget_old(Clock::Steady now);

  std::mutex mutex_;
  std::map<Episode, Clock::Steady> ends_;  // when they came
};

class RemediationIntake final : public Intake {
 public:
  // All must outlive the intake. Nodes whose Remediation has changed are put into `queue`.
  // `observer` hears of what is ignored; null: nobody does.
  RemediationIntake(ClusterView& view, RemediationStore& store, WorkQueue& queue, Clock& clock,
                    IntakeObserver* observer = nullptr);

  // kUnavailable before the first complete view of the cluster, kOverloaded where too much waits
  // already.
  [[nodiscard]] Result<IntakeCounts> take(std::span<const AlertSignal> signals,
                                          Clock::Steady deadline) override;

 private:
  [[nodiscard]] Result<IntakeCounts> take_node(std::span<const AlertSignal> signals,
                                               Clock::Steady deadline);
  [[nodiscard]] Result<IntakeCounts> write_until_settled(const NodeIdentity& node,
                                                         std::span<const AlertSignal> signals,
                                                         Clock::Steady deadline);
  // What ends is told to open Remediations of another Node that had the name, too.
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
  // One writer a node in this process; other replicas meet at the API server. Held no longer than a
  // deadline lasts, and whoever waited past its own deadline writes nothing.
  std::array<std::mutex, 64> node_locks_;
};

}  // namespace gpuward::remediator
