#include "remediator/tell/web/pages.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/html/page.h"
#include "core/html/parts.h"
#include "core/kube/node_findings.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/model/ownership.h"
#include "remediator/policy/policy_remarks.h"
#include "remediator/policy/policy_text.h"
#include "remediator/tell/page/runbooks.h"
#include "remediator/tell/texts/standing.h"
#include "remediator/tell/web/story.h"

namespace gpuward::remediator {
namespace {

using html::command;
using html::element;
using html::facts;
using html::Markup;
using html::note;
using html::table;

constexpr std::array kSeverities = {Severity::kIsolate, Severity::kReboot, Severity::kReset,
                                    Severity::kMonitor};

Markup severity_mark(Severity severity) { return html::severity_mark(to_string(severity)); }

Markup node_link(const std::string& root, const std::string& node) {
  return html::link(root + "nodes/" + node, node);
}

Markup remediation_link(const std::string& root, const std::string& name, std::string_view text) {
  return html::link(root + "remediations/" + name, text);
}

Markup rows_of(const std::vector<OverviewRow>& rows, std::string_view when, const std::string& root,
               WallTime now) {
  std::vector<std::vector<Markup>> cells;
  for (const OverviewRow& row : rows) {
    const Markup phase = row.remediation.empty()
                             ? Markup()
                             : remediation_link(root, row.remediation, to_string(row.phase));
    const Markup since = row.since == WallTime{} ? Markup() : html::since(row.since, now);
    cells.push_back({node_link(root, row.node), severity_mark(row.severity), row.found, phase,
                     row.message, since});
  }
  return table({{"Node"}, {"Severity"}, {"Found"}, {"Phase"}, {"Why"}, {std::string(when), true}},
               cells);
}

// ---- the fleet

Markup shown(const Light& light) {
  return light.is_bad ? html::alarm(light.text) : Markup(light.text);
}

Markup lines(const std::vector<Light>& lights) {
  Markup text;
  for (const Light& light : lights) text += element("div", {shown(light)});
  return text;
}

Markup total(std::string_view name, std::size_t number, std::string_view look = "") {
  const std::string shown = number == 0 ? std::string() : std::string(look);
  return element("div", {{"class", shown}},
                 {element("dt", {name}), element("dd", {std::to_string(number)})});
}

Markup totals(const FleetOverview& overview) {
  Markup nodes = total("GPU nodes", overview.gpu_nodes);
  for (const Severity severity : kSeverities) {
    const auto found = overview.unhealthy.find(severity);
    const std::string name(to_string(severity));
    const std::string text =
        severity == Severity::kMonitor ? "no repair: monitor" : "unhealthy: " + name;
    nodes += total(text, found == overview.unhealthy.end() ? 0 : found->second, name);
  }
  nodes += total("not known", overview.unheard);
  Markup remediations = total("open remediations", overview.open);
  remediations += total("in repair", overview.in_repair);
  remediations += total("held for an operator", overview.held, "isolate");
  remediations += total("awaiting approval", overview.approvals, "reboot");
  Markup all = element("dl", {{"class", "totals"}}, {nodes});
  all += element("dl", {{"class", "totals"}}, {remediations});
  return all;
}

std::string of_nodes(std::size_t number, const FleetOverview& overview) {
  return std::to_string(number) + " of " + std::to_string(overview.gpu_nodes) + " GPU nodes";
}

Markup verdict_on_findings(const FleetOverview& overview) {
  std::size_t broken = 0, watched = 0;
  for (const auto& [severity, number] : overview.unhealthy)
    (severity >= Severity::kReset ? broken : watched) += number;
  if (broken > 0) {
    std::string text = "Unhealthy: " + of_nodes(broken, overview);
    if (overview.unattended > 0)
      text += ", " + std::to_string(overview.unattended) + " without an open remediation";
    return html::alarm(text + ". ");
  }
  if (watched > 0) return "Findings that need no repair: " + of_nodes(watched, overview) + ". ";
  return {};
}

// Green only if it is known that no node has a finding and no Remediation is open.
Markup verdict(const FleetOverview& overview) {
  Markup text = verdict_on_findings(overview);
  if (overview.unheard > 0) {
    text += "Not known: " + of_nodes(overview.unheard, overview) +
            ", whose exporters have not reported for 15 minutes or longer.";
  }
  if (text.empty() && overview.open > 0) text = "The exporters find no fault any more.";
  if (text.empty()) text = html::well("No exporter finds a fault, and every exporter reports.");
  return element("p", {{"class", "verdict"}}, {text});
}

Markup budgets(const FleetOverview& overview) {
  std::vector<std::vector<Markup>> rows;
  for (const BudgetUse& use : overview.budgets) {
    const std::string used = std::to_string(use.used), allowed = std::to_string(use.allowed);
    // A meter needs a range, even if nothing is allowed. It is red once all of it is used.
    const int range = std::max(use.allowed, 1);
    const std::string most = std::to_string(range), all_but = std::to_string(range - 1) + ".5";
    const Markup meter = element("meter",
                                 {{"min", "0"},
                                  {"max", most},
                                  {"low", all_but},
                                  {"high", all_but},
                                  {"optimum", "0"},
                                  {"value", used},
                                  {"title", use.guard}},
                                 {});
    rows.push_back({use.guard, use.where, meter, used + " of " + allowed});
  }
  return table({{"Budget"}, {"Of"}, {"Share"}, {"Used", true}}, rows);
}

Markup node_rows(const FleetOverview& overview, WallTime now) {
  if (overview.rows.empty() && overview.gpu_nodes == 0) {
    Markup text =
        "gpuward found no GPU nodes: no node has a resource such as nvidia.com/gpu or a label of a "
        "GPU vendor. To check the nodes: ";
    text += command("kubectl describe nodes");
    return note(text);
  }
  if (overview.rows.empty()) return note("No open remediations and no known findings.");
  Markup shown = rows_of(overview.rows, "For", "", now);
  if (overview.rows_left_out > 0) {
    shown += element("p", {"and ", std::to_string(overview.rows_left_out),
                           " more: ", command("gpuwardctl list")});
  }
  return shown;
}

Markup excluded_rows(const std::vector<ExcludedRow>& excluded) {
  std::vector<std::vector<Markup>> rows;
  for (const auto& [name, exclusion, is_known_node] : excluded) {
    if (rows.size() == kMostExcludedRows) break;
    const bool has_end = exclusion.until != WallTime::max();
    rows.push_back({is_known_node ? node_link("", name) : Markup(name),
                    has_end ? to_rfc3339(exclusion.until) : "no end", exclusion.by,
                    exclusion.reason});
  }
  Markup shown = table({{"Node"}, {"Until"}, {"By"}, {"Reason"}}, rows);
  if (excluded.size() > rows.size()) {
    shown += element("p", {"and ", std::to_string(excluded.size() - rows.size()),
                           " more: ", command("gpuwardctl exclusions list")});
  }
  return shown;
}

// ---- one Remediation

Markup story(const Remediation& remediation) {
  Markup events;
  for (const auto& [at, text] : story_of(remediation)) {
    const std::string time = to_rfc3339(at);
    events += element("li", {element("time", {{"datetime", time}}, {time}), " ", text});
  }
  return element("ol", {{"class", "story"}}, {events});
}

Markup findings_of(const std::vector<NodeFinding>& findings) {
  std::vector<std::vector<Markup>> rows;
  for (const NodeFinding& one : findings) {
    const Markup seen = one.line.empty() ? Markup() : element("code", {one.line});
    rows.push_back({html::severity_mark(one.severity), summary_of(one), one.serial, one.meaning,
                    seen, one.workload});
  }
  if (rows.empty()) return {};
  return table({{"Severity"}, {"Found"}, {"Serial"}, {"Meaning"}, {"Seen"}, {"Used by"}}, rows);
}

Markup runbook_links(const Remediation& remediation, const std::string& root) {
  Markup links;
  for (const AlertEvidence& alert : remediation.alerts) {
    const Markup name = find_runbook(alert.alertname) == nullptr
                            ? Markup(alert.alertname)
                            : html::link(root + "runbooks/" + alert.alertname, alert.alertname);
    links +=
        element("li", {name, alert.firing() ? " fires" : " has ended", ", severity ",
                       to_string(alert.severity), alert.foreign ? ", not from gpuward's rules" : "",
                       alert.drill ? ", a drill" : ""});
  }
  return element("ul", {links});
}

Markup commands(const Remediation& remediation) {
  if (!remediation.open()) return {};
  const RemediationStatus& status = remediation.status;
  std::vector<std::pair<std::string, Markup>> lines;
  const auto add = [&](std::string what, const std::string& verb, const std::string& rest = "") {
    lines.emplace_back(std::move(what),
                       command("gpuwardctl " + verb + " " + remediation.node + rest));
  };
  if (awaits_approval(remediation)) {
    add("Let it " + std::string(to_string(status.approval->step)), "approve",
        " " + status.approval->token);
  }
  if (status.phase == Phase::kPaused) {
    add("Resume", "resume");
  } else {
    add("Pause", "pause");
  }
  add("Remove gpuward's taint and cordon, and close the Remediation", "cancel");
  add("Details", "explain");
  return element("div", {{"class", "commands"}}, {facts(lines)});
}

Markup jobs_of(const Remediation& remediation) {
  const auto jobs = jobs_drained(remediation);
  return jobs.empty() ? Markup() : Markup(list_first(jobs, jobs.size()));
}

Markup reasons(const RemediationStatus& status) {
  Markup list;
  for (const std::string& reason : status.reasons) list += element("li", {reason});
  return element("ol", {list});
}

// ---- one node

Markup gpu_cells(const std::vector<NodeFinding>& findings) {
  std::map<std::string, const NodeFinding*> worst;  // the findings are the worst first
  for (const NodeFinding& one : findings) {
    if (!one.gpu.empty() || !one.pci_bus_id.empty())
      worst.emplace(one.gpu.empty() ? one.pci_bus_id : "GPU " + one.gpu, &one);
  }
  if (worst.empty()) return {};
  Markup cells;
  for (const auto& [gpu, finding] : worst) {
    cells += element(
        "li", {{"class", finding->severity}},
        {element("strong", {gpu}), Markup::trusted("<br>"), html::severity_mark(finding->severity),
         Markup::trusted("<br>"), finding->check, " ", finding->code});
  }
  return element("ul", {{"class", "gpus"}}, {cells});
}

Markup taints_of(const kube::Node& node) {
  std::string text;
  for (const kube::Taint& taint : node.taints)
    text += (text.empty() ? "" : ", ") + taint.key + "=" + taint.value + ":" + taint.effect;
  return text;
}

// Returns what the exporter reports, and why no Remediation is open.
Markup health_text(const NodeSeen& seen, WallTime now) {
  const auto latest = std::ranges::find_if(
      seen.remediations, [&](const Remediation& one) { return is_about(one, *seen.node); });
  const Remediation* last = latest == seen.remediations.end() ? nullptr : &*latest;
  const Severity severity = severity_of(seen.health, last);
  const bool is_open = last != nullptr && last->open();
  Markup text;
  if (severity != Severity::kNone) {
    text = severity_mark(severity);
    if (!is_open) text += "; " + why_not_open(last, now);
  }
  if (!seen.health.is_heard) {
    text += text.empty() ? "" : "; ";
    text += "not known: its exporter has not reported for 15 minutes or longer";
  }
  return text.empty() ? html::well("no finding") : text;
}

Markup node_facts(const NodeSeen& seen, WallTime now) {
  const kube::Node& node = *seen.node;
  return facts({{"Health", health_text(seen, now)},
                {"Excluded", seen.exclusion.empty() ? Markup() : html::alarm(seen.exclusion)},
                {"Ready", kube::is_ready(node) ? Markup("yes") : html::alarm("no")},
                {"Schedulable", node.unschedulable ? "no: cordoned" : "yes"},
                {"Taints", taints_of(node)},
                {"Set by gpuward", has_our_taint_or_annotation(node) ? ownership_text(node) : ""},
                {"Instance", node.provider_id},
                {"Boot", node.boot_id}});
}

}  // namespace

Markup fleet_page(const FleetOverview& overview, WallTime now) {
  Markup page = overview.gpu_nodes == 0 ? Markup() : verdict(overview);
  page += totals(overview);
  const Light& exclusions = overview.exclusions;
  page += facts({{"Leader", shown(overview.leader)},
                 {"Steps", shown(overview.steps)},
                 {"Circuit breaker", shown(overview.breaker)},
                 {"Exclusions", exclusions.text.empty() ? Markup() : shown(exclusions)},
                 {"Sources", lines(overview.sources)},
                 {"Mode", html::link("policy", overview.mode)}});
  page += element("h2", {"Unhealthy nodes and open remediations"});
  page += node_rows(overview, now);
  if (!overview.excluded.empty()) {
    page += element("h2", {"Excluded nodes"});
    page += excluded_rows(overview.excluded);
  }
  if (!overview.budgets.empty()) {
    page += element("h2", {"Budgets"});
    page += budgets(overview);
  }
  if (!overview.closed.empty()) {
    page += element("h2", {"Recently closed"});
    page += rows_of(overview.closed, "Closed", "", now);
  }
  return page;
}

Markup remediation_page(const Remediation& remediation, WallTime now) {
  const std::string root = "../";
  const RemediationStatus& status = remediation.status;
  Markup page =
      facts({{"Node", node_link(root, remediation.node)},
             {"Phase", std::string(to_string(status.phase))},
             {"Severity", severity_mark(remediation.acted_severity())},
             {"Why", reason_of(remediation, now)},
             {"Rule", status.rule},
             {"Mode", std::string(to_string(status.mode))},
             {"Opened", remediation.created ? html::since(*remediation.created, now) : Markup()},
             {"Closed", status.closed_at ? html::since(*status.closed_at, now) : Markup()},
             {"Jobs that lost pods", jobs_of(remediation)}});
  page += commands(remediation);
  if (!status.findings.empty()) {
    page += element("h2", {"What broke"});
    page += findings_of(status.findings);
  }
  page += element("h2", {"Alerts and their runbooks"});
  page += runbook_links(remediation, root);
  page += element("h2", {"Story"});
  page += story(remediation);
  if (!status.reasons.empty()) {
    page += element("h2", {"Decision"});
    page += reasons(status);
  }
  return page;
}

Markup node_page(const NodeSeen& seen, WallTime now) {
  const std::string root = "../";
  Markup page;
  if (seen.node) {
    page += node_facts(seen, now);
    const auto findings = node_findings_of(*seen.node);
    page += element("h2", {"Its GPUs"});
    page += gpu_cells(findings);
    page += findings_of(findings);
    if (!findings.empty() || seen.health.is_heard) {
      page += element(
          "p", {{"class", "dim"}},
          {findings.empty() ? "Its exporter has found nothing." : "No findings on other GPUs."});
    }
  } else {
    page += note("There is currently no node with this name.");
  }
  page += element("h2", {"History"});
  if (seen.remediations.empty()) {
    page += note("There are no remediations for this node.");
    return page;
  }
  std::vector<std::vector<Markup>> rows;
  for (const Remediation& one : seen.remediations) {
    rows.push_back({remediation_link(root, one.name, one.name), severity_mark(one.acted_severity()),
                    std::string(to_string(one.status.phase)), reason_of(one, now),
                    one.created ? html::since(*one.created, now) : Markup()});
  }
  page += table({{"Remediation"}, {"Severity"}, {"Phase"}, {"Why"}, {"Opened", true}}, rows);
  return page;
}

Markup policy_page(const Policy& policy) {
  const std::string text = remarks_text(policy) + rules_text(policy);
  Markup page = facts({{"Mode", std::string(to_string(policy.mode))}});
  page += element("pre", {text});
  page += element("p", {"To see the policy for one node, including its pool: ",
                        command("gpuwardctl policy explain FILE --node NODE")});
  return page;
}

}  // namespace gpuward::remediator
