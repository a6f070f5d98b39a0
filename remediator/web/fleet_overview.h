// What the first page shows, taken out of the view in one look: totals, a row for each node that
// has something, and what was closed last. Used by web/pages and web/site.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/budgets/budgets.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"
#include "remediator/records/cluster_view.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMostOpenRows = 200;
inline constexpr std::size_t kMostClosedRows = 50;

// What is read of the API server for it; each as it was read, or why it was not.
struct OverviewReadings {
  Result<kube::Lease> lease;
  Result<kube::ConfigMap> stop_switch;
  Result<Ledger> ledger;
};

struct OverviewRow {
  std::string remediation, node, found, message;
  Phase phase = Phase::kPending;
  Severity severity = Severity::kNone;
  WallTime since;  // opened; of one that is closed: closed
};

// A line about the remediator itself; bad: it has to be looked at.
struct Light {
  std::string text;
  bool is_bad = false;
};

struct FleetOverview {
  Light leader, steps, breaker;
  std::string mode;  // of the policy
  std::size_t gpu_nodes = 0;
  std::map<Severity, std::size_t> sick;  // open Remediations
  // Of those: steps are being taken; an operator is needed; somebody is asked to approve.
  std::size_t in_repair = 0, held = 0, approvals = 0;
  std::vector<BudgetUse> budgets;         // of the cluster, and what else is used
  std::vector<OverviewRow> open, closed;  // who needs an operator first, then the worst; the latest
  std::size_t open_left_out = 0;
};

[[nodiscard]] FleetOverview overview_of(const ClusterView& view, const OverviewReadings& readings,
                                        const Policy& policy, WallTime now);

}  // namespace gpuward::remediator
