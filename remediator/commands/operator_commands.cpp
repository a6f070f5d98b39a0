#include "remediator/commands/operator_commands.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/command_line/table.h"
#include "core/kube/names.h"
#include "core/kube/redo_on_conflict.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/budgets/breaker.h"
#include "remediator/budgets/ledger_store.h"
#include "remediator/commands/command_json.h"
#include "remediator/commands/fleet_status.h"
#include "remediator/config/cluster.h"
#include "remediator/decision/decide.h"
#include "remediator/guards/switch_position.h"
#include "remediator/model/remediation_name.h"
#include "remediator/records/machine_history.h"
#include "remediator/records/remediation_json.h"
#include "remediator/records/remediation_store.h"

namespace gpuward::remediator {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string age_text(const std::optional<WallTime>& since, WallTime now) {
  if (!since) return "-";
  const auto age = std::max(now - *since, WallTime::duration::zero());
  if (age < std::chrono::hours(2)) {
    return std::to_string(std::chrono::floor<std::chrono::minutes>(age).count()) + "m";
  }
  if (age < std::chrono::days(2)) {
    return std::to_string(std::chrono::floor<std::chrono::hours>(age).count()) + "h";
  }
  return std::to_string(std::chrono::floor<std::chrono::days>(age).count()) + "d";
}

std::string step_text(const Remediation& one) {
  const auto& steps = one.status.steps;
  if (steps.empty()) return "-";
  return std::string(to_string(steps.back().step)) + " " +
         std::string(to_string(steps.back().result));
}

// What the wide list has before the message.
std::vector<std::string> wide_cells(const Remediation& one) {
  const auto or_dash = [](const std::string& text) { return text.empty() ? "-" : text; };
  const auto& asked = one.status.approval;
  return {std::string(to_string(one.status.mode)), or_dash(one.status.rule), step_text(one),
          asked && !asked->seen_at ? asked->token : "-", or_dash(one.instance_id)};
}

void insert_before_last(std::vector<std::string>& row, const std::vector<std::string>& cells) {
  row.insert(row.end() - 1, cells.begin(), cells.end());
}

// Each once.
std::string names_of_nodes(const std::vector<const Remediation*>& sorted) {
  std::set<std::string> seen;
  std::string text;
  for (const Remediation* one : sorted) {
    if (seen.insert(one->node).second) text += one->node + "\n";
  }
  return text;
}

std::vector<const Remediation*> open_ones_first(std::span<const Remediation> remediations) {
  std::vector<const Remediation*> sorted;
  for (const Remediation& remediation : remediations) sorted.push_back(&remediation);
  std::ranges::sort(sorted, [](const Remediation* a, const Remediation* b) {
    if (a->open() != b->open()) return a->open();
    if (a->created != b->created) return a->created > b->created;
    return a->name < b->name;
  });
  return sorted;
}

std::unexpected<Error> unreadable(const Error& error) {
  if (error.kind != ErrorKind::kNotFound) return with_context("reading remediations", error);
  return fail(error.kind,
              "this cluster knows no remediations: is it the right one (--context), and is gpuward "
              "installed in it (manifests/crd.yaml)?");
}

Result<std::vector<Remediation>> read_all(kube::Api& api) {
  auto all = RemediationStore(api).list_all();
  if (!all) return unreadable(all.error());
  return all;
}

// By spec.nodeName and not by label: a Remediation that was made by hand has no labels.
Result<std::vector<Remediation>> read_of(kube::Api& api, const std::string& node) {
  auto all = read_all(api);
  if (all) std::erase_if(*all, [&](const Remediation& one) { return one.node != node; });
  return all;
}

// Of a node that was terminated one may still be open while the node that has its name by now has
// one too: then only its own name says which is meant.
Result<Remediation> open_of(kube::Api& api, const std::string& name) {
  if (auto valid = kube::validate_node_name(name); !valid) return std::unexpected(valid.error());
  auto open = read_of(api, name);
  if (!open) return std::unexpected(open.error());
  std::erase_if(*open, [](const Remediation& one) { return !one.open(); });
  if (open->size() == 1) return open->front();
  if (open->size() > 1) {
    std::string names;
    for (const Remediation& one : *open) names += (names.empty() ? "" : ", ") + one.name;
    return fail(ErrorKind::kInvalid, "node " + name + " has more than one open remediation: name " +
                                         "one of " + names + " in its place");
  }
  const auto object = api.get_custom(remediation_type(), name);
  auto itself = object ? to_remediation(*object) : std::unexpected(object.error());
  if (itself && itself->open()) return itself;
  if (!itself && itself.error().kind != ErrorKind::kNotFound)
    return with_context("reading remediation " + name, itself.error());
  const auto node = api.get_node(name);
  const bool is_unknown = !node && node.error().kind == ErrorKind::kNotFound;
  return fail(ErrorKind::kNotFound,
              is_unknown ? "there is no node " + name + ", and no open remediation of that name"
                         : "node " + name + " has no open remediation");
}

// What keeps what was just written down from being done now; empty where nothing does.
std::string postponed(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto read = api.get_config_map(flags.state_namespace, kSwitchName);
  const bool is_known = read || read.error().kind == ErrorKind::kNotFound;
  if (is_known && !permission_of({}, read))
    return "gpuward is stopped: nothing is done about it before `gpuwardctl start`\n";
  const auto lease = api.get_lease(flags.state_namespace, kLeaseName);
  if (lease && !is_held(*lease, clock.wall()))
    return "No remediator leads: nothing is done about it before one does\n";
  return {};
}

// With its alerts a node looks as if nothing were wrong: nobody acts on them any more.
std::string still_firing(const Remediation& remediation) {
  std::vector<std::string> names;
  for (const AlertEvidence& alert : remediation.alerts) {
    const bool is_listed = std::ranges::find(names, alert.alertname) != names.end();
    if (alert.firing() && !is_listed) names.push_back(alert.alertname);
  }
  if (names.empty()) return {};
  std::string text = "Still firing: " + list_first(names, names.size()) + ". ";
  if (!remediation.status.findings.empty())
    text += "Still broken, as far as is known: " + summary_of(remediation.status.findings.front()) +
            ". ";
  return text +
         "New pods may come to the node, and gpuward does nothing more about these alerts until "
         "they end and begin anew. To keep pods away: kubectl cordon " +
         remediation.node + "\n";
}

Result<std::string> approve(const CommandFlags& flags, kube::Api& api) {
  const auto remediation = open_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  const auto& asked = remediation->status.approval;
  if (!asked || remediation->status.phase != Phase::kWaiting) {
    return fail(ErrorKind::kInvalid, remediation->name + " waits for no approval now");
  }
  if (asked->token != flags.token) {
    return fail(ErrorKind::kInvalid, "the token is not the one of " + remediation->name +
                                         ": something has changed; see gpuwardctl explain " +
                                         flags.node);
  }
  const auto name = api.who_am_i();
  if (!name) return with_context("asking the API server who you are", name.error());
  const auto written = RemediationStore(api).annotate(
      *remediation, {{kApproveAnnotation, flags.token}, {kApprovedByAnnotation, *name}});
  if (!written) return std::unexpected(written.error());
  return *name + " has approved " + std::string(to_string(asked->step)) + " of node " + flags.node +
         " (" + remediation->name + ") for an hour\n";
}

Result<Remediation> mark(const CommandFlags& flags, kube::Api& api, std::string_view key) {
  auto remediation = open_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  const auto written = RemediationStore(api).annotate(*remediation, {{key, "true"}});
  if (!written) return std::unexpected(written.error());
  return remediation;
}

// Where an operator has changed the node by hand, resuming would not undo that: it is refused.
Result<std::string> resume(const CommandFlags& flags, kube::Api& api) {
  const auto remediation = open_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  const RemediationStatus& status = remediation->status;
  if (remediation->wish.cancel)
    return fail(ErrorKind::kInvalid, remediation->name + " is cancelled already, and ends");
  if (status.phase == Phase::kPaused && status.rule != kPauseRule) {
    return fail(ErrorKind::kInvalid,
                remediation->name + " is paused because an operator has changed the node (" +
                    status.message +
                    "): it stays so until its alerts end and nothing of gpuward's "
                    "is on the node. To end it now: gpuwardctl cancel " +
                    flags.node);
  }
  if (!remediation->wish.pause)
    return fail(ErrorKind::kInvalid, remediation->name + " is not paused");
  const auto written =
      RemediationStore(api).annotate(*remediation, {{kPauseAnnotation, std::nullopt}});
  if (!written) return std::unexpected(written.error());
  return remediation->name + " goes on\n";
}

// Also of a node that is gone: its machine may come back under another one.
Result<Remediation> last_of(kube::Api& api, const std::string& name) {
  auto open = open_of(api, name);
  if (open || open.error().kind != ErrorKind::kNotFound) return open;
  auto known = read_of(api, name);
  if (!known) return std::unexpected(known.error());
  std::erase_if(*known, [](const Remediation& one) { return !was_given_up(one); });
  if (known->empty()) return open;
  return *std::ranges::max_element(*known, {}, &Remediation::created);
}

Result<std::string> machine_replaced(const CommandFlags& flags, kube::Api& api) {
  const auto remediation = last_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  const auto written =
      RemediationStore(api).annotate(*remediation, {{kMachineReplacedAnnotation, "true"}});
  if (!written) return std::unexpected(written.error());
  return remediation->name +
         ": the machine was replaced; what was known of the one before no longer counts\n";
}

}  // namespace

std::string list_text(std::span<const Remediation> remediations, OutputFormat format,
                      WallTime now) {
  const auto sorted = open_ones_first(remediations);
  if (format == OutputFormat::kName) return names_of_nodes(sorted);
  if (sorted.empty()) return "There are no remediations.\n";
  const bool is_wide = format == OutputFormat::kWide;
  Rows rows{{"NAME", "NODE", "SEVERITY", "PHASE", "AGE", "MESSAGE"}};
  if (is_wide) insert_before_last(rows[0], {"MODE", "RULE", "STEP", "TOKEN", "INSTANCE"});
  for (const Remediation* one : sorted) {
    rows.push_back({one->name, one->node, std::string(to_string(one->acted_severity())),
                    std::string(to_string(one->status.phase)), age_text(one->created, now),
                    one->status.message});
    if (is_wide) insert_before_last(rows.back(), wide_cells(*one));
  }
  return table_text(rows);
}

Result<std::string> list_remediations(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  if (flags.output == OutputFormat::kJson || flags.output == OutputFormat::kYaml) {
    const auto objects = api.list_custom(remediation_type(), "");
    if (!objects) return unreadable(objects.error());
    return in_format(flags.output, remediations_json(*objects));
  }
  const auto all = read_all(api);
  if (!all) return std::unexpected(all.error());
  return list_text(*all, flags.output, clock.wall());
}

Result<std::string> approve_step(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto approved = kube::redo_on_conflict(clock, [&] { return approve(flags, api); });
  if (!approved) return std::unexpected(approved.error());
  return *approved + postponed(flags, api, clock);
}

Result<std::string> pause_node(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto paused =
      kube::redo_on_conflict(clock, [&] { return mark(flags, api, kPauseAnnotation); });
  if (!paused) return std::unexpected(paused.error());
  return paused->name + " is paused: what stands stays\n" + postponed(flags, api, clock);
}

Result<std::string> resume_node(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto resumed = kube::redo_on_conflict(clock, [&] { return resume(flags, api); });
  if (!resumed) return std::unexpected(resumed.error());
  return *resumed + postponed(flags, api, clock);
}

Result<std::string> cancel_node(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto cancelled =
      kube::redo_on_conflict(clock, [&] { return mark(flags, api, kCancelAnnotation); });
  if (!cancelled) return std::unexpected(cancelled.error());
  return cancelled->name + " is cancelled: what gpuward has put on the node comes off\n" +
         postponed(flags, api, clock) + still_firing(*cancelled);
}

Result<std::string> note_machine_replaced(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  return kube::redo_on_conflict(clock, [&] { return machine_replaced(flags, api); });
}

Result<std::string> show_breaker(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto ledger = LedgerStore(api, {.ns = flags.state_namespace}, clock).read();
  if (!ledger) return std::unexpected(ledger.error());
  const Breaker& breaker = ledger->breaker;
  if (flags.output != OutputFormat::kTable) return in_format(flags.output, breaker_json(breaker));
  if (breaker.open) {
    return "The circuit breaker is open since " + to_rfc3339(breaker.since) + ": " + breaker.why +
           "\n";
  }
  if (breaker.by.empty()) return "The circuit breaker is closed.\n";
  return "The circuit breaker is closed; " + breaker.by + " closed it " +
         to_rfc3339(breaker.since) + "\n";
}

Result<std::string> close_the_breaker(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto name = api.who_am_i();
  if (!name) return with_context("asking the API server who you are", name.error());
  LedgerStore store(api, {.ns = flags.state_namespace}, clock);
  if (const auto ledger = store.read(); !ledger) return std::unexpected(ledger.error());
  const auto closed = store.change([&](Ledger& ledger) -> Status {
    auto next = close_breaker(ledger, *name, clock.wall());
    if (!next) return std::unexpected(next.error());
    ledger = *std::move(next);
    return {};
  });
  if (!closed) return std::unexpected(closed.error());
  return show_breaker(flags, api, clock);
}

}  // namespace gpuward::remediator
