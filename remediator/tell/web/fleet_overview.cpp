#include "remediator/tell/web/fleet_overview.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "remediator/cluster/gates/switch_position.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/tell/texts/excluded.h"
#include "remediator/tell/texts/fleet_texts.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

// A possible row; only the first ones are shown.
struct Candidate {
  const Remediation* remediation = nullptr;  // if the node has no open one: the last, or null
  const kube::Node* node = nullptr;          // null: the node has an open Remediation
  Severity severity = Severity::kNone;
  bool needs_operator = false;
};
using Candidates = std::vector<Candidate>;

bool is_being_repaired(Phase phase) {
  return phase == Phase::kCollecting || phase == Phase::kDraining || phase == Phase::kResetting ||
         phase == Phase::kRebooting || phase == Phase::kTesting || phase == Phase::kTerminating ||
         phase == Phase::kVerifying;
}

void count(const Remediation& one, FleetOverview& overview) {
  ++overview.open;
  if (needs_operator(one.status.phase)) ++overview.held;
  if (is_being_repaired(one.status.phase)) ++overview.in_repair;
  if (awaits_approval(one)) ++overview.approvals;
}

OverviewRow row_of(const Remediation& one, WallTime now) {
  const auto& findings = one.status.findings;
  return {.node = one.node,
          .found = findings.empty() ? one.status.error_class : summary_of(findings.front()),
          .message = reason_of(one, now),
          .remediation = one.name,
          .phase = one.status.phase,
          .severity = one.acted_severity(),
          .since = one.status.closed_at.value_or(one.created.value_or(WallTime{}))};
}

// Returns the row of an unhealthy node without an open Remediation.
OverviewRow row_of(const Candidate& one, WallTime now) {
  if (one.node == nullptr) return row_of(*one.remediation, now);
  const Remediation* last = one.remediation;
  OverviewRow row = last == nullptr ? OverviewRow{.node = one.node->meta.name} : row_of(*last, now);
  if (const auto findings = node_findings_of(*one.node); !findings.empty()) {
    row.found = summary_of(findings.front());
    row.since = findings.front().first_seen;
  }
  row.message = (one.severity < Severity::kReset ? "needs no repair; " : "unhealthy; ") +
                why_not_open(last, now);
  row.severity = one.severity;
  return row;
}

// Makes rows only for the first ones, because there may be thousands of closed ones.
std::vector<OverviewRow> first_rows(Candidates all, std::size_t most, WallTime now,
                                    const auto& rank) {
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::ranges::partial_sort(all, end, {}, rank);
  std::vector<OverviewRow> rows;
  for (auto one = all.begin(); one != end; ++one) rows.push_back(row_of(*one, now));
  return rows;
}

// Counts the node, and makes it a candidate if it is unhealthy and has no open Remediation.
void add_health_of(const kube::Node& node, const NodeHealth& health, const ViewState& state,
                   FleetOverview& overview, Candidates& candidates) {
  if (health.is_heard && health.found == Severity::kNone) return;  // most nodes
  if (!health.is_heard) ++overview.unheard;
  const Remediation* last = last_of_node(state, node);
  const Severity severity = severity_of(health, last);
  if (severity == Severity::kNone) return;
  ++overview.unhealthy[severity];
  if (last != nullptr && last->open()) return;
  if (severity >= Severity::kReset) ++overview.unattended;
  candidates.push_back({.remediation = last,
                        .node = &node,
                        .severity = severity,
                        .needs_operator = severity >= Severity::kReset});
}

void add_health(const ViewState& state, const NodeHealthByName& all, FleetOverview& overview,
                Candidates& candidates) {
  for (const auto& [uid, one] : state.fleet.nodes) {
    const auto node = state.nodes.find(one.name);
    if (node == state.nodes.end()) continue;
    const auto health = all.find(one.name);
    add_health_of(*node->second, health == all.end() ? NodeHealth() : health->second, state,
                  overview, candidates);
  }
}

void add_nodes(const ClusterView& view, const NodeHealthByName& health, WallTime now,
               FleetOverview& overview) {
  Candidates open, closed;
  const auto state = view.lock();
  for (const auto& [name, one] : state->remediations) {
    (one.open() ? open : closed)
        .push_back({.remediation = &one,
                    .severity = one.acted_severity(),
                    .needs_operator = needs_operator(one.status.phase)});
    if (one.open()) count(one, overview);
  }
  add_health(*state, health, overview, open);
  overview.rows_left_out = open.size() - std::min(open.size(), kMostRows);
  overview.rows = first_rows(std::move(open), kMostRows, now, [](const Candidate& one) {
    const auto* of = one.remediation;
    return std::tuple(!one.needs_operator, -static_cast<int>(one.severity),
                      of == nullptr ? std::nullopt : of->created,
                      of == nullptr ? one.node->meta.name : of->name);
  });
  overview.closed = first_rows(std::move(closed), kMostClosedRows, now, [](const Candidate& one) {
    const Remediation& of = *one.remediation;
    return std::tuple(-of.status.closed_at.value_or(WallTime{}).time_since_epoch(), of.name);
  });
}

// Copies only the few excluded nodes.
std::vector<ExcludedRow> excluded_in(const ClusterView& view, const ExclusionList& list,
                                     const Policy& policy, WallTime now) {
  const auto state = view.lock();
  std::vector<kube::Node> nodes;
  for (const auto& [name, node] : state->nodes)
    if (exclusion_of(policy, *node)) nodes.push_back(*node);
  std::vector<ExcludedRow> rows;
  for (auto& [name, exclusion] : excluded_now(list, nodes, policy, now))
    rows.push_back({name, exclusion, state->nodes.contains(name)});
  return rows;
}

Light unknown(const Error& error) { return {"not known: " + error.message, true}; }

void add_lights(const OverviewReadings& readings, WallTime now, FleetOverview& overview) {
  const auto& [lease, stop_switch, ledger, exclusions, connections] = readings;
  overview.leader =
      lease ? Light{leader_text(*lease, now), !is_held(*lease, now)} : unknown(lease.error());
  overview.steps = stop_switch || stop_switch.error().kind == ErrorKind::kNotFound
                       ? Light{steps_text(stop_switch), !permission_of({}, stop_switch)}
                       : unknown(stop_switch.error());
  overview.breaker =
      ledger ? Light{breaker_text(ledger->breaker), ledger->breaker.open} : unknown(ledger.error());
  if (!exclusions) overview.exclusions = unknown(exclusions.error());
  if (!connections) overview.sources.push_back(unknown(connections.error()));
  if (!connections) return;
  for (const Link& source : sources(*connections))
    overview.sources.push_back({source_text(source), source.state == LinkState::kBroken});
}

}  // namespace

FleetOverview overview_of(const ClusterView& view, const OverviewReadings& readings,
                          const NodeHealthByName& health, const Policy& policy, WallTime now) {
  FleetOverview overview;
  overview.mode = to_string(policy.mode);
  add_lights(readings, now, overview);
  add_nodes(view, health, now, overview);
  overview.excluded = excluded_in(view, readings.exclusions.value_or(ExclusionList()), policy, now);
  with_fleet(view, [&](const Fleet& fleet) {
    overview.gpu_nodes = fleet.nodes.size();
    if (readings.ledger)
      overview.budgets = shown_budgets(*readings.ledger, fleet, policy.budgets, now);
  });
  return overview;
}

}  // namespace gpuward::remediator
