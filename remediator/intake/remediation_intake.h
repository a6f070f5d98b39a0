// Makes orders durable: finds the node's open Remediation or opens one, folds the orders in and
// writes what is new, with compare-and-set. A repeat costs no request at all. Used by the sources
// through Intake.
#pragma once

#include <array>
#include <mutex>

#include "core/runtime/clock.h"
#include "core/runtime/work_queue.h"
#include "remediator/intake/fold_orders.h"
#include "remediator/intake/recent_ends.h"
#include "remediator/records/cluster_view.h"
#include "remediator/records/remediation_store.h"
#include "remediator/sources/intake.h"

namespace gpuward::remediator {

class RemediationIntake final : public Intake {
 public:
  // All must outlive the intake. Nodes whose Remediation has changed are put into `queue`.
  // `observer` hears of what is ignored; null: nobody does.
  RemediationIntake(ClusterView& view, RemediationStore& store, WorkQueue& queue, Clock& clock,
                    IntakeObserver* observer = nullptr);

  // kUnavailable before the first complete view of the cluster, kOverloaded where too much waits
  // already.
  [[nodiscard]] Result<IntakeCounts> take(std::span<const Order> orders,
                                          Clock::Steady deadline) override;

 private:
  [[nodiscard]] Result<IntakeCounts> take_node(std::span<const Order> orders,
                                               Clock::Steady deadline);
  [[nodiscard]] Result<IntakeCounts> write_until_settled(const NodeIdentity& node,
                                                         std::span<const Order> orders,
                                                         Clock::Steady deadline);
  // What ends is told to open Remediations of another Node that had the name, too.
  [[nodiscard]] Status tell_ends_of_former(const NodeIdentity& node, std::span<const Order> orders,
                                           Clock::Steady deadline);

  void report_ignored(const FoldedOrders& folded) const;

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
