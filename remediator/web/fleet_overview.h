// What the first page shows, taken out of the view in one look: totals, a row for each node that is
// unhealthy or has an open Remediation, and what was closed last. Used by web/pages and web/site.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/budgets/budgets.h"
#include "remediator/commands/connection_links.h"
#include "remediator/guards/exclusions.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"
#include "remediator/records/cluster_view.h"
#include "remediator/web/node_health.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMostRows = 200;
inline constexpr std::size_t kMostClosedRows = 50;
inline constexpr std::size_t kMostExcludedRows = 50;

// What is read of the API server for it; each as it was read, or why it was not.
struct OverviewReadings {
  Result<kube::Lease> lease;
  Result<kube::ConfigMap> stop_switch;
  Result<Ledger> ledger;
  Result<ExclusionList> exclusions;
  Result<ConnectionReading> connections;
};

struct OverviewRow {
  std::string node, found = {}, message = {};
  std::string remediation = {};  // empty: none is known
  Phase phase = Phase::kPending;
  Severity severity = Severity::kNone;
  WallTime since = {};  // opened; of one that is closed: closed; of a node without one: first seen
};

// A line about the remediator itself; bad: it has to be looked at.
struct Light {
  std::string text;
  bool is_bad = false;
};

struct ExcludedRow {
  std::string name;  // of a node or of an instance
  Exclusion exclusion;
  bool is_known_node = false;
};

struct FleetOverview {
  Light leader, steps, breaker, exclusions;
  std::vector<Light> sources;
  std::string mode;  // of the policy
  std::size_t gpu_nodes = 0;
  // By the worst finding that the exporters report, with or without a Remediation.
  std::map<Severity, std::size_t> unhealthy;
  std::size_t unheard = 0;  // nodes whose exporter has not reported lately
  // Nodes with a finding of reset or worse and without an open Remediation.
  std::size_t unattended = 0;
  // Remediations; of the open ones: gpuward takes steps; an operator is needed; an approval is
  // awaited.
  std::size_t open = 0, in_repair = 0, held = 0, approvals = 0;
  std::vector<BudgetUse> budgets;  // of the cluster, and what else is used
  std::vector<OverviewRow> rows,
      closed;  // first what needs an operator, then the worst; the latest
  std::size_t rows_left_out = 0;
  std::vector<ExcludedRow> excluded;  // by name
};

// `health`: as the exporters report it.
[[nodiscard]] FleetOverview overview_of(const ClusterView& view, const OverviewReadings& readings,
                                        const NodeHealthByName& health, const Policy& policy,
                                        WallTime now);

}  // namespace gpuward::remediator
