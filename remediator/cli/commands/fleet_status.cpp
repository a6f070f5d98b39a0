#include "remediator/cli/commands/fleet_status.h"

#include <algorithm>
#include <utility>

#include "core/command_line/table.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/cli/commands/command_json.h"
#include "remediator/cli/commands/switch_commands.h"
#include "remediator/cluster/cluster.h"
#include "remediator/cluster/cluster_view.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "remediator/model/node_mark.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

using Rows = std::vector<std::vector<std::string>>;

constexpr std::size_t kMostReasons = 5;
constexpr std::size_t kMostBudgets = 10;
constexpr std::size_t kMostApprovals = 10;
constexpr std::size_t kMostExcluded = 10;
constexpr std::array kSeverities = {Severity::kIsolate, Severity::kReboot, Severity::kReset,
                                    Severity::kMonitor};

bool is_gone(const Error& error) {
  return error.kind == ErrorKind::kUnavailable || error.kind == ErrorKind::kTimeout ||
         error.kind == ErrorKind::kUnauthenticated || error.kind == ErrorKind::kCancelled;
}

template <typename T>
const T* known(const Result<T>& reading, const std::string& what, FleetStatus& status) {
  if (reading) return &*reading;
  status.unknown.push_back(what + ": " + reading.error().message);
  return nullptr;
}

std::map<std::string, std::string> on_gpu_nodes(const Result<std::vector<kube::Pod>>& pods,
                                                const std::vector<kube::Node>& nodes) {
  std::map<std::string, std::string> found;
  if (!pods) return found;
  for (const kube::Pod& pod : *pods) {
    const auto node = std::ranges::find(nodes, pod.node_name,
                                        [](const kube::Node& one) { return one.meta.name; });
    if (node != nodes.end() && is_gpu_node(*node)) found.emplace(pod.node_name, pod.meta.name);
  }
  return found;
}

void count_waiting(const Remediation& one, WallTime now, std::vector<WaitsFor>& waiting) {
  const std::string rule(rule_waited_for(one));
  if (rule.empty()) return;
  auto found = std::ranges::find(waiting, rule, &WaitsFor::rule);
  if (found == waiting.end())
    found = waiting.insert(waiting.end(), {.rule = rule, .message = reason_of(one, now)});
  found->nodes.push_back(one.node);
}

// Returns the nodes whose exporter reports pass, whatever their alerts say.
std::set<std::string_view> healthy_of(const std::vector<kube::Node>* nodes) {
  std::set<std::string_view> healthy;
  if (nodes == nullptr) return healthy;
  for (const kube::Node& node : *nodes) {
    if (says_healthy(node)) healthy.insert(node.meta.name);
  }
  return healthy;
}

void count(const std::vector<Remediation>& remediations, const std::vector<kube::Node>* nodes,
           WallTime now, FleetStatus& status) {
  const auto healthy = healthy_of(nodes);
  const Remediation* last_open = nullptr;
  std::map<std::string_view, const Remediation*> by_node;
  for (const Remediation& one : remediations) {
    const Remediation*& last_of_node = by_node[one.node];
    if (last_of_node == nullptr || one.created > last_of_node->created) last_of_node = &one;
    if (!one.open()) continue;
    if (last_open == nullptr || one.created > last_open->created) last_open = &one;
    ++status.open[one.status.phase][one.acted_severity()];
    count_waiting(one, now, status.waiting);
    if (awaits_approval(one)) status.to_approve.push_back(&one);
  }
  for (const auto& [node, one] : by_node) {
    if (one->status.phase == Phase::kCancelled && one->any_firing() && !healthy.contains(node))
      status.cancelled_in_alarm.insert(one->node);
  }
  std::ranges::sort(status.waiting, [](const WaitsFor& a, const WaitsFor& b) {
    return std::pair(b.nodes.size(), a.rule) < std::pair(a.nodes.size(), b.rule);
  });
  if (last_open != nullptr) status.mode = std::string(to_string(last_open->status.mode));
}

// Counts the fleet as the remediator itself does.
std::vector<BudgetUse> uses_of(const FleetReadings& readings, const BudgetLimits& limits,
                               WallTime now) {
  ClusterView view;
  for (const kube::Node& node : *readings.nodes) {
    if (is_gpu_node(node)) view.put_node(node, fleet_node(node, place_keys(limits)));
  }
  for (const Remediation& one : *readings.remediations) view.put_remediation(one);
  std::vector<BudgetUse> uses;
  with_fleet(view, [&](const Fleet& fleet) {
    uses = shown_budgets(*readings.ledger, fleet, limits, now);
  });
  return uses;
}

// Returns a table after an empty line, or nothing if it has only its header; at most `most` rows
// unless wide.
std::string part(Rows rows, std::size_t most, OutputFormat format = OutputFormat::kTable) {
  if (format == OutputFormat::kWide) most = rows.size();
  if (rows.size() == 1) return {};
  const std::size_t left_out = rows.size() - 1 > most ? rows.size() - 1 - most : 0;
  rows.resize(rows.size() - left_out);
  return "\n" + table_text(rows) +
         (left_out == 0 ? "" : "and " + std::to_string(left_out) + " more; -o wide shows all\n");
}

std::string open_part(const FleetStatus& status) {
  Rows rows{{"PHASE", "NODES"}};
  for (const Severity severity : kSeverities) {
    std::string head(to_string(severity));
    std::ranges::transform(head, head.begin(), [](char c) {
      return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    });
    rows[0].push_back(head);
  }
  for (const auto& [phase, counts] : status.open) {
    std::size_t all = 0;
    std::vector<std::string> cells;
    for (const auto& [severity, nodes] : counts) all += nodes;
    for (const Severity severity : kSeverities) {
      const auto found = counts.find(severity);
      cells.push_back(found == counts.end() ? "-" : std::to_string(found->second));
    }
    rows.push_back({std::string(to_string(phase)), std::to_string(all)});
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
  }
  const std::size_t all = rows.size();
  return part(std::move(rows), all);
}

std::string waiting_part(const FleetStatus& status, OutputFormat format) {
  const bool is_wide = format == OutputFormat::kWide;
  Rows rows{{"NODES", "RULE", "BECAUSE"}};
  if (is_wide) rows[0].emplace_back("NAMES");
  for (const WaitsFor& one : status.waiting) {
    rows.push_back({std::to_string(one.nodes.size()), one.rule, one.message});
    if (is_wide) rows.back().push_back(list_first(one.nodes, one.nodes.size()));
  }
  return part(std::move(rows), kMostReasons, format);
}

std::string excluded_part(const FleetStatus& status, OutputFormat format) {
  Rows rows{{"EXCLUDED", "UNTIL", "BY", "REASON"}};
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const auto& [name, exclusion] : status.excluded) {
    const bool has_end = exclusion.until != WallTime::max();
    rows.push_back({name, has_end ? to_rfc3339(exclusion.until) : "-", or_dash(exclusion.by),
                    or_dash(exclusion.reason)});
  }
  return part(std::move(rows), kMostExcluded, format);
}

std::string approval_part(const FleetStatus& status, OutputFormat format) {
  Rows rows{{"NODE", "STEP", "TO APPROVE IT"}};
  for (const Remediation* one : status.to_approve) {
    const ApprovalRecord& asked = *one->status.approval;
    rows.push_back({one->node, std::string(to_string(asked.step)),
                    "gpuwardctl approve " + one->node + " " + asked.token});
  }
  return part(std::move(rows), kMostApprovals, format);
}

std::string budget_part(const FleetStatus& status, OutputFormat format) {
  Rows rows{{"BUDGET", "OF", "USED", "ALLOWED"}};
  for (const BudgetUse& use : status.budgets) {
    rows.push_back({use.guard, use.where, std::to_string(use.used),
                    status.knows_allowed ? std::to_string(use.allowed) : "?"});
  }
  std::string text = part(std::move(rows), kMostBudgets, format);
  if (!text.empty() && status.is_stopped)
    text += "While steps are stopped, USED includes reserved slots.\n";
  return text;
}

Json or_null(const std::optional<std::string>& text) { return text ? Json(*text) : Json(nullptr); }

}  // namespace

Result<FleetReadings> read_fleet(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const std::string& ns = flags.state_namespace;
  FleetReadings readings{
      .remediations = RemediationStore(api).list_all(),
      .nodes = api.list_nodes(),
      .lease = api.get_lease(ns, kLeaseName),
      .stop_switch = api.get_config_map(ns, kSwitchName),
      .ledger = LedgerStore(api, {.ns = ns}, clock).read(),
      .policy = read_cluster_policy(api, ns),
      .exclusions = ExclusionStore(api, ns, clock).read(),
      .connections = read_connections(api, ns, clock.wall()),
      .replicas = api.list_pods(ns, "app.kubernetes.io/name=" + std::string(kOwner))};
  const auto is_missing = [](const auto& reading) {
    return !reading && reading.error().kind == ErrorKind::kNotFound;
  };
  if (is_missing(readings.lease) && is_missing(readings.stop_switch))
    return fail(ErrorKind::kNotFound,
                "there is no gpuward-remediator in namespace " + ns +
                    " of this cluster: check the namespace (-n) and the context (--context)");
  for (const Error* error : {readings.remediations ? nullptr : &readings.remediations.error(),
                             readings.nodes ? nullptr : &readings.nodes.error(),
                             readings.lease ? nullptr : &readings.lease.error()}) {
    if (error != nullptr && is_gone(*error)) return std::unexpected(*error);
  }
  return readings;
}

FleetStatus fleet_status(const FleetReadings& readings, WallTime now) {
  FleetStatus status;
  if (const auto* lease = known(readings.lease, "who leads", status))
    status.leader = leader_text(*lease, now);
  if (readings.stop_switch || readings.stop_switch.error().kind == ErrorKind::kNotFound) {
    status.stop = steps_text(readings.stop_switch);
    status.is_stopped = !permission_of({}, readings.stop_switch).has_value();
  } else {
    (void)known(readings.stop_switch, "the stop switch", status);
  }
  const auto* nodes = known(readings.nodes, "the nodes", status);
  if (nodes != nullptr) {
    status.gpu_nodes = static_cast<std::size_t>(std::ranges::count_if(*nodes, is_gpu_node));
    status.replicas_on_gpu_nodes = on_gpu_nodes(readings.replicas, *nodes);
  }
  const auto* remediations = known(readings.remediations, "the remediations", status);
  if (remediations != nullptr) count(*remediations, nodes, now, status);
  if (const auto* exclusions = known(readings.exclusions, "the exclusions", status)) {
    const std::span<const kube::Node> all =
        nodes == nullptr ? std::span<const kube::Node>() : std::span(*nodes);
    status.excluded = excluded_now(*exclusions, all, readings.policy.value_or(Policy()), now);
  }
  if (const auto* connections = known(readings.connections, "the sources", status)) {
    status.sources = sources(*connections);
    status.is_connected = first_broken(fleet_links(*connections)) == nullptr;
  }
  if (!status.mode && readings.policy)
    status.mode = std::string(to_string(readings.policy->mode)) + ", by the policy";
  const auto* ledger = known(readings.ledger, "the breaker and the budgets", status);
  if (ledger == nullptr) return status;
  status.breaker = breaker_text(ledger->breaker);
  status.is_breaker_open = ledger->breaker.open;
  if (nodes == nullptr || remediations == nullptr) return status;
  const auto* policy = known(readings.policy, "the budget limits", status);
  status.knows_allowed = policy != nullptr;
  status.budgets = uses_of(readings, policy == nullptr ? BudgetLimits{} : policy->budgets, now);
  return status;
}

std::string status_text(const FleetStatus& status, OutputFormat format) {
  std::size_t open = 0;
  for (const auto& [phase, counts] : status.open) {
    for (const auto& [severity, nodes] : counts) open += nodes;
  }
  const std::string nodes =
      (status.gpu_nodes ? std::to_string(*status.gpu_nodes) + " with GPUs, " : "") +
      std::to_string(open) + " with an open remediation" +
      (status.cancelled_in_alarm.empty()
           ? ""
           : ", " + std::to_string(status.cancelled_in_alarm.size()) +
                 " cancelled with alerts still firing (ignored until they resolve)");
  Rows rows{{"Leader", status.leader.value_or("?")},
            {"Mode", status.mode.value_or("? (no remediation has recorded it)")},
            {"Steps", status.stop.value_or("?")},
            {"Breaker", status.breaker.value_or("?")},
            {"Nodes", nodes}};
  for (const Link& source : status.sources)
    rows.push_back({rows.back().front() == "Nodes" ? "Sources" : "", source_text(source)});
  std::string text = table_text(rows);
  for (const auto& [node, pod] : status.replicas_on_gpu_nodes)
    text += pod + " runs on " + node + ", which has GPUs: root there has the remediator's token. " +
            "To keep it away: remediator.gpuNodes=exclude\n";
  if (!status.is_connected)
    text += "To find the first broken link and the next command: gpuwardctl doctor\n";
  text += open_part(status) + waiting_part(status, format) + approval_part(status, format) +
          excluded_part(status, format) + budget_part(status, format);
  if (!status.unknown.empty()) text += '\n';
  for (const std::string& line : status.unknown) text += "Not known: " + line + "\n";
  return text;
}

std::string status_json(const FleetStatus& status) {
  Json open = Json::array(), waiting = Json::array(), approvals = Json::array(),
       budgets = Json::array(), sources = Json::array();
  for (const auto& [phase, counts] : status.open) {
    for (const auto& [severity, nodes] : counts)
      open.push_back(
          {{"phase", to_string(phase)}, {"severity", to_string(severity)}, {"nodes", nodes}});
  }
  for (const WaitsFor& one : status.waiting)
    waiting.push_back({{"rule", one.rule},
                       {"message", one.message},
                       {"nodes", one.nodes.size()},
                       {"names", one.nodes}});
  for (const Remediation* one : status.to_approve) {
    approvals.push_back({{"node", one->node},
                         {"remediation", one->name},
                         {"step", to_string(one->status.approval->step)},
                         {"token", one->status.approval->token}});
  }
  for (const BudgetUse& use : status.budgets) {
    budgets.push_back({{"budget", use.guard},
                       {"of", use.where},
                       {"used", use.used},
                       {"allowed", status.knows_allowed ? Json(use.allowed) : Json(nullptr)}});
  }
  for (const Link& source : status.sources) {
    sources.push_back(
        {{"source", source.name}, {"state", to_string(source.state)}, {"text", source.text}});
  }
  return dump_json(
      {{"leader", or_null(status.leader)},
       {"mode", or_null(status.mode)},
       {"stopped", status.stop ? Json(status.is_stopped) : Json(nullptr)},
       {"breakerOpen", status.breaker ? Json(status.is_breaker_open) : Json(nullptr)},
       {"sources", std::move(sources)},
       {"connected", status.sources.empty() ? Json(nullptr) : Json(status.is_connected)},
       {"gpuNodes", status.gpu_nodes ? Json(*status.gpu_nodes) : Json(nullptr)},
       {"replicasOnGpuNodes", status.replicas_on_gpu_nodes},
       {"cancelledWhileFiring", status.cancelled_in_alarm},
       {"open", std::move(open)},
       {"waiting", std::move(waiting)},
       {"approvals", std::move(approvals)},
       {"excluded", exclusion_items(status.excluded)},
       {"budgets", std::move(budgets)},
       {"unknown", status.unknown}});
}

bool is_in_order(const FleetStatus& status) {
  const bool is_led = status.leader && !status.leader->starts_with("none");
  return is_led && status.unknown.empty() && !status.is_stopped && !status.is_breaker_open &&
         status.is_connected;
}

Result<ShownStatus> show_status(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto readings = read_fleet(flags, api, clock);
  if (!readings) return std::unexpected(readings.error());
  FleetStatus status = fleet_status(*readings, clock.wall());
  ShownStatus shown{
      .text = {}, .ageless = {}, .is_in_order = !flags.exit_code || is_in_order(status)};
  if (is_for_people(flags.output)) {
    shown.text = status_text(status, flags.output);
    for (Link& source : status.sources) source.text.clear();
    shown.ageless = status_text(status, flags.output);
    return shown;
  }
  auto text = in_format(flags.output, status_json(status));
  if (!text) return std::unexpected(text.error());
  shown.text = *std::move(text);
  for (Link& source : status.sources) source.text.clear();
  shown.ageless = status_json(status);
  return shown;
}

}  // namespace gpuward::remediator
