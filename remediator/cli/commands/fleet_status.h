// `gpuwardctl status`: the fleet at a glance. Parts that the user may not read are named and left
// out, and the rest is shown. Pure except read_fleet().
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
#include "remediator/cli/commands/command_flags.h"
#include "remediator/decide/budgets/budgets.h"
#include "remediator/model/remediation.h"
#include "remediator/policy/policy.h"
#include "remediator/tell/texts/connection_links.h"
#include "remediator/tell/texts/excluded.h"
#include "remediator/tell/texts/fleet_texts.h"

namespace gpuward::remediator {

// Each value as read, or the error of its read.
struct FleetReadings {
  Result<std::vector<Remediation>> remediations;
  Result<std::vector<kube::Node>> nodes;
  Result<kube::Lease> lease;
  Result<kube::ConfigMap> stop_switch;
  Result<Ledger> ledger;
  Result<Policy> policy;  // From the chart's ConfigMap; used for the limits of the budgets.
  Result<ExclusionList> exclusions;
  Result<ConnectionReading> connections;
  Result<std::vector<kube::Pod>> replicas;  // Pods of the remediator; kForbidden is not a fault.
};

// An error only if the API server stopped answering: other errors are in the readings.
[[nodiscard]] Result<FleetReadings> read_fleet(const CommandFlags& flags, kube::Api& api,
                                               Clock& clock);

struct WaitsFor {
  std::string rule, message;  // the reason, from one of them
  std::vector<std::string> nodes = {};
};

struct FleetStatus {
  // Absent if unknown.
  std::optional<std::string> leader, mode, stop, breaker;
  bool is_stopped = false, is_breaker_open = false;
  std::vector<Link> sources;  // of connection_links
  bool is_connected = true;
  std::optional<std::size_t> gpu_nodes;
  // The remediator's pods on nodes with GPUs, by node: root on such a node can read their token.
  std::map<std::string, std::string> replicas_on_gpu_nodes;
  std::map<Phase, std::map<Severity, std::size_t>> open;  // Remediations
  std::vector<WaitsFor> waiting;                          // the most frequent first
  // Nodes whose last Remediation was cancelled while alerts fired, except nodes whose exporter
  // reports pass. A closed record is not updated when its alerts end.
  std::set<std::string> cancelled_in_alarm;
  std::vector<const Remediation*> to_approve;  // pointers into the readings
  Excluded excluded;
  std::vector<BudgetUse> budgets;
  bool knows_allowed = true;
  std::vector<std::string> unknown;  // what is unknown and why
};

// The readings must outlive it.
[[nodiscard]] FleetStatus fleet_status(const FleetReadings& readings, WallTime now);
// Returns one screen of text; kWide: without limits, and with the names of the nodes.
[[nodiscard]] std::string status_text(const FleetStatus& status, OutputFormat format);
[[nodiscard]] std::string status_json(const FleetStatus& status);

// Returns whether steps can be taken: a replica leads, nothing is stopped, the circuit breaker is
// closed, and each source is connected. A value that could not be read counts as a fault.
[[nodiscard]] bool is_in_order(const FleetStatus& status);

struct ShownStatus {
  std::string text;
  std::string ageless;      // the text without the ages of the sources
  bool is_in_order = true;  // true without --exit-code
};

// Reads and prints the status as the flags say.
[[nodiscard]] Result<ShownStatus> show_status(const CommandFlags& flags, kube::Api& api,
                                              Clock& clock);

}  // namespace gpuward::remediator
