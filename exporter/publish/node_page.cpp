#include "exporter/publish/node_page.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/html/page.h"
#include "core/html/parts.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

using html::element;
using html::facts;
using html::Markup;
using html::note;
using html::table;

Markup severity_mark(Severity severity) {
  return severity == Severity::kNone ? html::well("no finding")
                                     : html::severity_mark(to_string(severity));
}

using WorstFirst = std::multimap<Severity, const Finding*, std::greater<>>;

WorstFirst worst_first(const State& state) {
  WorstFirst findings;
  for (const auto& [key, finding] : state.findings) findings.emplace(finding.severity, &finding);
  return findings;
}

const Finding* worst_of(const Gpu& gpu, const WorstFirst& findings) {
  for (const auto& [severity, finding] : findings) {
    if (gpu.has_address() && finding->pci_bus_id == gpu.pci.bus_id()) return finding;
  }
  return nullptr;
}

Markup gpu_cells(const Snapshot& snapshot, const WorstFirst& findings) {
  Markup cells;
  for (const Gpu& gpu : snapshot.gpus) {
    const Finding* worst = worst_of(gpu, findings);
    const Severity severity = worst == nullptr ? Severity::kNone : worst->severity;
    const std::string look(severity == Severity::kNone ? "well" : to_string(severity));
    cells += element(
        "li", {{"class", look}, {"title", gpu.name + " " + gpu.uuid}},
        {element("strong", {"GPU " + std::to_string(gpu.index)}), Markup::trusted("<br>"),
         severity_mark(severity), Markup::trusted("<br>"),
         worst == nullptr ? Markup(gpu.pci.bus_id()) : Markup(worst->check + " " + worst->code)});
  }
  return element("ul", {{"class", "gpus"}}, {cells});
}

Markup fault(const std::optional<std::string>& text) {
  return text ? html::alarm(*text) : Markup();
}

// The source is empty until the HostWatcher has looked up the type.
Markup machine(const InstanceFacts& instance) {
  if (instance.has_profile || instance.source.empty()) return instance.type;
  const std::string type = instance.type.empty() ? "unknown type" : instance.type;
  return type + ": no profile; compared with the hardware seen before";
}

Markup awaited(const std::vector<std::string>& checks) {
  if (checks.empty()) return {};
  return "waiting for the first result of " + list_first(checks, checks.size());
}

Markup released(const std::optional<GpuRelease>& release) {
  if (!release) return {};
  const std::string until = release->until ? " until " + to_rfc3339(*release->until) : "";
  return std::string(release->is_released ? "no GPU is held" : "waiting for the last reader") +
         until + ": " + release->why + " (" + release->who + ")";
}

Markup health(const Snapshot& snapshot) {
  const Health& health = snapshot.health;
  const InstanceFacts& instance = snapshot.instance;
  return facts(
      {{"Machine", machine(instance)},
       {"GPUs expected",
        instance.gpus_expected ? std::to_string(*instance.gpus_expected) : std::string()},
       {"Kernel log", fault(health.kernel_log_fault)},
       {"Checks", awaited(health.awaited)},
       {"Released", released(health.release)},
       {"GPUs", fault(health.inventory_fault)},
       {"Driver",
        snapshot.telemetry.fault.empty() ? Markup() : html::alarm(snapshot.telemetry.fault)},
       {"State file", fault(health.state_fault)},
       {"Settings", health.was_last_reload_good
                        ? Markup()
                        : html::alarm("last reload failed, keeping the previous settings")},
       {"Node object", health.node ? fault(health.node->fault) : Markup()}});
}

Markup findings_table(const WorstFirst& findings, Clock::Wall now) {
  if (findings.empty()) return note(html::well("No findings."));
  std::vector<std::vector<Markup>> rows;
  for (const auto& [severity, one] : findings) {
    rows.push_back({severity_mark(severity), one->check + " " + one->code, one->pci_bus_id,
                    one->why, element("code", {one->line}), one->workload,
                    std::string(to_string(one->cleared_by)), std::to_string(one->count),
                    html::since(one->first_seen, now)});
  }
  return table({{"Severity"},
                {"Found"},
                {"Where"},
                {"Reason"},
                {"Seen"},
                {"Used by"},
                {"Cleared by"},
                {"Times", true},
                {"Since", true}},
               rows);
}

Markup checks_table(const State& state, Clock::Wall now) {
  if (state.checks.empty()) return note("No check has completed yet.");
  std::vector<std::vector<Markup>> rows;
  for (const auto& [name, result] : state.checks) {
    const bool is_bad = result.status == CheckStatus::kFail || result.status == CheckStatus::kError;
    const std::string status(to_string(result.status));
    rows.push_back({name, is_bad ? html::alarm(status) : Markup(status), result.details,
                    html::since(result.started, now)});
  }
  return table({{"Check"}, {"Status"}, {"Details"}, {"Run", true}}, rows);
}

}  // namespace

Markup node_page(const Snapshot& snapshot, const std::string& node, Clock::Wall now) {
  const auto findings = worst_first(snapshot.state);
  Markup page = element("h1", {"GPUs of " + node});
  page += snapshot.gpus.empty() ? note("No driver has reported a GPU on this node.")
                                : gpu_cells(snapshot, findings);
  page += health(snapshot);
  page += element("h2", {"Findings"});
  page += findings_table(findings, now);
  page += element("h2", {"Checks"});
  page += checks_table(snapshot.state, now);
  return page;
}

}  // namespace gpuward::exporter
