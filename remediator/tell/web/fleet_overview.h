// The content of the first page, read from the view at one moment: totals, a row for each node that
// is unhealthy or has an open Remediation, and the Remediations closed last. Used by tell/web/pages
// and tell/web/site.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/exclusions.h"
#include "remediator/decide/budgets/budgets.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"
#include "remediator/tell/texts/connection_links.h"
#include "remediator/tell/web/node_health.h"

namespace gpuward::remediator {

inline constexpr std::size_t kMostRows = 200;
inline constexpr std::size_t kMostClosedRows = 50;
inline constexpr std::size_t kMostExcludedRows = 50;

// The values read from the API server; each as it was read, or why it was not.
struct OverviewReadings {
  Result<kube::Lease> lease;
  Result<kube::ConfigMap> stop_switch;
  Result<Ledger> ledger;
  Result<ExclusionList> exclusions;
  Result<ConnectionReading> connections;
};

struct OverviewRow {
  std::string node, found = {}, message = {};
  std::string remediation = {};  // Empty if the node has no known Remediation.
  Phase phase = Phase::kPending;
  Severity severity = Severity::kNone;
  WallTime since = {};  // opened; closed, if it is; first seen, for a node without a Remediation
};

// A line about the remediator itself; is_bad: an operator must check it.
struct Light {
  std::string text;
  bool is_bad = false;
};

struct ExcludedRow {
  std::string name;  // Name of a node or of an instance.
  Exclusion exclusion;
  bool is_known_node = false;
};

struct FleetOverview {
  Light leader, steps, breaker, exclusions;
  std::vector<Light> sources;
  std::string mode;  // Mode of the policy.
  std::size_t gpu_nodes = 0;
  // By the worst finding that the exporters report, with or without a Remediation.
  std::map<Severity, std::size_t> unhealthy;
  std::size_t unheard = 0;  // Nodes with an exporter that has not reported lately.
  // Nodes with a finding of reset or worse and without an open Remediation.
  std::size_t unattended = 0;
  // Remediations: open ones; then among these: gpuward takes steps; an operator is needed; an
  // approval is pending.
  std::size_t open = 0, in_repair = 0, held = 0, approvals = 0;
  std::vector<BudgetUse> budgets;  // of the cluster, and others in use
  std::vector<OverviewRow> rows,
      closed;  // rows: those that need an operator first, then the worst; closed: the latest first
  std::size_t rows_left_out = 0;
  std::vector<ExcludedRow> excluded;  // Sorted by name.
};

// `health`: as the exporters report it.
[[nodiscard]] FleetOverview overview_of(const ClusterView& view, const OverviewReadings& readings,
                                        const NodeHealthByName& health, const Policy& policy,
                                        WallTime now);

}  // namespace gpuward::remediator
