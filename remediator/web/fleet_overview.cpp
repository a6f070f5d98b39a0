#include "remediator/web/fleet_overview.h"

#include <algorithm>
#include <tuple>

#include "remediator/commands/fleet_status.h"
#include "remediator/commands/standing.h"
#include "remediator/guards/switch_position.h"
#include "remediator/records/view_queries.h"

namespace gpuward::remediator {
namespace {

using Remediations = std::vector<const Remediation*>;

bool is_being_repaired(Phase phase) {
  return phase == Phase::kCollecting || phase == Phase::kDraining || phase == Phase::kResetting ||
         phase == Phase::kRebooting || phase == Phase::kTesting || phase == Phase::kTerminating ||
         phase == Phase::kVerifying;
}

void count(const Remediation& one, FleetOverview& overview) {
  ++overview.sick[one.acted_severity()];
  if (needs_operator(one.status.phase)) ++overview.held;
  if (is_being_repaired(one.status.phase)) ++overview.in_repair;
  if (awaits_approval(one)) ++overview.approvals;
}

OverviewRow row_of(const Remediation& one, WallTime now) {
  const auto& findings = one.status.findings;
  return {.remediation = one.name,
          .node = one.node,
          .found = findings.empty() ? one.status.error_class : summary_of(findings.front()),
          .message = reason_of(one, now),
          .phase = one.status.phase,
          .severity = one.acted_severity(),
          .since = one.status.closed_at.value_or(one.created.value_or(WallTime{}))};
}

// Only the first become rows: there may be thousands that are closed.
std::vector<OverviewRow> first_rows(Remediations all, std::size_t most, WallTime now,
                                    const auto& rank) {
  const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(most, all.size()));
  std::ranges::partial_sort(all, end, {}, rank);
  std::vector<OverviewRow> rows;
  for (auto one = all.begin(); one != end; ++one) rows.push_back(row_of(**one, now));
  return rows;
}

void add_remediations(const ClusterView& view, WallTime now, FleetOverview& overview) {
  Remediations open, closed;
  const auto state = view.lock();
  for (const auto& [name, one] : state->remediations) {
    (one.open() ? open : closed).push_back(&one);
    if (one.open()) count(one, overview);
  }
  overview.open_left_out = open.size() - std::min(open.size(), kMostOpenRows);
  overview.open = first_rows(std::move(open), kMostOpenRows, now, [](const Remediation* one) {
    return std::tuple(!needs_operator(one->status.phase), -static_cast<int>(one->acted_severity()),
                      one->created, one->name);
  });
  overview.closed = first_rows(std::move(closed), kMostClosedRows, now, [](const Remediation* one) {
    return std::tuple(-one->status.closed_at.value_or(WallTime{}).time_since_epoch(), one->name);
  });
}

Light unknown(const Error& error) { return {"not known: " + error.message, true}; }

void add_lights(const OverviewReadings& readings, WallTime now, FleetOverview& overview) {
  const auto& [lease, stop_switch, ledger] = readings;
  overview.leader =
      lease ? Light{leader_text(*lease, now), !is_held(*lease, now)} : unknown(lease.error());
  overview.steps = stop_switch || stop_switch.error().kind == ErrorKind::kNotFound
                       ? Light{steps_text(stop_switch), !permission_of({}, stop_switch)}
                       : unknown(stop_switch.error());
  overview.breaker =
      ledger ? Light{breaker_text(ledger->breaker), ledger->breaker.open} : unknown(ledger.error());
}

}  // namespace

FleetOverview overview_of(const ClusterView& view, const OverviewReadings& readings,
                          const Policy& policy, WallTime now) {
  FleetOverview overview;
  overview.mode = to_string(policy.mode);
  add_lights(readings, now, overview);
  add_remediations(view, now, overview);
  with_fleet(view, [&](const Fleet& fleet) {
    overview.gpu_nodes = fleet.nodes.size();
    if (readings.ledger)
      overview.budgets = shown_budgets(*readings.ledger, fleet, policy.budgets, now);
  });
  return overview;
}

}  // namespace gpuward::remediator
