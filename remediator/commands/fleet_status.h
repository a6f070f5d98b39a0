// `gpuwardctl status`: the fleet at a glance. What may not be read is named and left out; the rest
// is shown all the same. Pure but for read_fleet().
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/budgets/budgets.h"
#include "remediator/commands/command_flags.h"
#include "remediator/commands/connection_links.h"
#include "remediator/commands/excluded.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"

namespace gpuward::remediator {

// Each as it was read, or why it was not.
struct FleetReadings {
  Result<std::vector<Remediation>> remediations;
  Result<std::vector<kube::Node>> nodes;
  Result<kube::Lease> lease;
  Result<kube::ConfigMap> stop_switch;
  Result<Ledger> ledger;
  Result<Policy> policy;  // of the ConfigMap of the chart: what the budgets allow
  Result<ExclusionList> exclusions;
  Result<ConnectionReading> connections;
  Result<std::vector<kube::Pod>> replicas;  // of the remediator; kForbidden is no fault
};

// An error only where the API server stopped answering: what one may not read is in the readings.
[[nodiscard]] Result<FleetReadings> read_fleet(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);

struct WaitsFor {
  std::string rule, message;  // why, of one of them
  std::vector<std::string> nodes = {};
};

struct FleetStatus {
  // Absent where it is not known.
  std::optional<std::string> leader, mode, stop, breaker;
  bool is_stopped = false, is_breaker_open = false;
  std::vector<Link> sources;  // of connection_links
  bool is_connected = true;
  std::optional<std::size_t> gpu_nodes;
  // Pods of the remediator on nodes with GPUs, by node: root on such a node has their token.
  std::map<std::string, std::string> replicas_on_gpu_nodes;
  std::map<Phase, std::map<Severity, std::size_t>> open;  // Remediations
  std::vector<WaitsFor> waiting;                          // the most frequent first
  // Nodes whose last Remediation was cancelled while alerts fired, but for those whose exporter
  // finds nothing any more. A closed record is not told of the alerts' end.
  std::set<std::string> cancelled_in_alarm;
  std::vector<const Remediation*> to_approve;  // of the readings
  Excluded excluded;
  std::vector<BudgetUse> budgets;
  bool knows_allowed = true;
  std::vector<std::string> unknown;  // what, and why
};

// For people, and what is wrong in capitals.
[[nodiscard]] std::string leader_text(const kube::Lease& lease, WallTime now);
[[nodiscard]] std::string steps_text(const Result<kube::ConfigMap>& stop_switch);
[[nodiscard]] std::string breaker_text(const Breaker& breaker);

// That of the cluster, and the others of which something is used.
[[nodiscard]] std::vector<BudgetUse> shown_budgets(const Ledger& ledger, const Fleet& fleet,
                                                   const BudgetLimits& limits, WallTime now);

// Whether somebody leads by it.
[[nodiscard]] bool is_held(const kube::Lease& lease, WallTime now);

// The readings must outlive it.
[[nodiscard]] FleetStatus fleet_status(const FleetReadings& readings, WallTime now);
// One screen; kWide: all that is held, waits and is spent, however much that is, and which nodes.
[[nodiscard]] std::string status_text(const FleetStatus& status, OutputFormat format);
[[nodiscard]] std::string status_json(const FleetStatus& status);

// Whether steps can be taken: a replica leads, nothing is stopped, the circuit breaker is closed,
// and each source is connected. Anything that could not be read counts as wrong.
[[nodiscard]] bool is_in_order(const FleetStatus& status);

struct ShownStatus {
  std::string text;
  std::string ageless;      // the text without the ages of the sources
  bool is_in_order = true;  // true without --exit-code
};

// Reads and renders it as the flags say.
[[nodiscard]] Result<ShownStatus> show_status(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);

}  // namespace gpuward::remediator
