#include "remediator/cli/commands/operator_commands.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/command_line/closest.h"
#include "core/kube/names.h"
#include "core/kube/redo_on_conflict.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/cli/commands/command_json.h"
#include "remediator/cli/commands/list_command.h"
#include "remediator/cluster/cluster.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/cluster/machine_history.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/decide/budgets/breaker.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "remediator/decide/decide.h"
#include "remediator/decide/guards/approval.h"
#include "remediator/model/remediation_name.h"
#include "remediator/tell/texts/fleet_texts.h"
#include "remediator/tell/texts/last_command.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kNamedNodes = 10;

Result<std::vector<Remediation>> read_all(kube::Api& api) {
  auto all = RemediationStore(api).list_all();
  if (!all) return unreadable_remediations(all.error());
  return all;
}

// By spec.nodeName and not by label, because a Remediation created by a user has no labels.
Result<std::vector<Remediation>> read_of(kube::Api& api, const std::string& node) {
  auto all = read_all(api);
  if (all) std::erase_if(*all, [&](const Remediation& one) { return one.node != node; });
  return all;
}

// Finds Remediations by their node or by their own name.
Result<std::vector<Remediation>> read_named(kube::Api& api, const std::string& name) {
  auto all = read_all(api);
  if (all)
    std::erase_if(*all,
                  [&](const Remediation& one) { return one.node != name && one.name != name; });
  return all;
}

// Returns the names of all nodes and open Remediations, to suggest one for a name with a typo.
std::vector<std::string> names_of_open(kube::Api& api) {
  std::vector<std::string> names;
  const auto all = read_all(api);
  if (!all) return names;
  for (const Remediation& one : *all) {
    if (!one.open()) continue;
    names.push_back(one.node);
    names.push_back(one.name);
  }
  return names;
}

// Returns the last closed Remediation of the node; nullopt if one is open, or if it has none.
std::optional<Remediation> last_closed(kube::Api& api, const std::string& name) {
  const auto all = read_named(api, name);
  if (!all) return std::nullopt;
  if (all->empty() || std::ranges::any_of(*all, &Remediation::open)) return std::nullopt;
  return *std::ranges::max_element(*all, {}, &Remediation::created);
}

// A node that was terminated may still have an open Remediation while the new node of that name has
// one too. Then only the name of a Remediation is unique.
Result<Remediation> open_of(kube::Api& api, const std::string& name) {
  if (auto valid = kube::validate_node_name(name); !valid) return std::unexpected(valid.error());
  auto open = read_of(api, name);
  if (!open) return std::unexpected(open.error());
  std::erase_if(*open, [](const Remediation& one) { return !one.open(); });
  if (open->size() == 1) return open->front();
  if (open->size() > 1) {
    std::string names;
    for (const Remediation& one : *open) names += (names.empty() ? "" : ", ") + one.name;
    return fail(ErrorKind::kInvalid, "node " + name + " has more than one open remediation: use " +
                                         "one of " + names + " instead of the node name");
  }
  const auto object = api.get_custom(remediation_type(), name);
  auto itself = object ? to_remediation(*object) : std::unexpected(object.error());
  if (itself && itself->open()) return itself;
  if (!itself && itself.error().kind != ErrorKind::kNotFound)
    return with_context("reading remediation " + name, itself.error());
  const auto node = api.get_node(name);
  const bool is_unknown = !node && node.error().kind == ErrorKind::kNotFound;
  if (!is_unknown) return fail(ErrorKind::kNotFound, "node " + name + " has no open remediation");
  return fail(ErrorKind::kNotFound, "there is no node " + name +
                                        ", and no open remediation of that name" +
                                        did_you_mean(name, names_of_open(api)));
}

// Returns why the written change does not take effect now; empty if it does.
std::string postponed(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto read = api.get_config_map(flags.state_namespace, kSwitchName);
  const bool is_known = read || read.error().kind == ErrorKind::kNotFound;
  if (is_known && !permission_of({}, read))
    return "gpuward is stopped: the change takes effect after `gpuwardctl start`\n";
  const auto lease = api.get_lease(flags.state_namespace, kLeaseName);
  if (lease && !is_held(*lease, clock.wall()))
    return "No remediator leads: the change takes effect once one does\n";
  return {};
}

// Returns each name once.
std::vector<std::string> alerts_firing(const Remediation& remediation) {
  std::vector<std::string> names;
  for (const AlertEvidence& alert : remediation.alerts) {
    const bool is_listed = std::ranges::find(names, alert.alertname) != names.end();
    if (alert.firing() && !is_listed) names.push_back(alert.alertname);
  }
  return names;
}

// Warns about firing alerts, which gpuward ignores after this command.
std::string still_firing(const Remediation& remediation, const Result<kube::Node>& node) {
  const std::vector<std::string> names = alerts_firing(remediation);
  if (names.empty()) return {};
  std::string text = "Still firing: " + list_first(names, names.size()) + ". ";
  if (node && says_healthy(*node))
    return text +
           "The node's exporter no longer reports a finding: the alerts resolve within minutes.\n";
  if (!remediation.status.findings.empty())
    text += "Still broken, as far as gpuward knows: " +
            summary_of(remediation.status.findings.front()) + ". ";
  const AlertEvidence* const with_runbook = alert_with_runbook(remediation);
  return text +
         "New pods can start on the node. gpuward ignores these alerts until they resolve and fire "
         "again. To keep pods away: kubectl cordon " +
         remediation.node + ". To repair it: gpuwardctl " +
         (with_runbook != nullptr ? "runbook " + with_runbook->alertname
                                  : "explain " + remediation.node) +
         "\n";
}

Status ask(const CommandFlags& flags, kube::Api& api, Clock& clock, const Remediation& remediation,
           const std::string& command, RemediationStore::Wishes wishes) {
  return ask_as(caller_of(flags.context_user, api), command, api, clock, remediation,
                std::move(wishes));
}

// Returns "gpu-01-ab-1 is already paused by alice 5m ago"; without the name if it is unknown.
std::string already(const Remediation& remediation, const std::string& what, WallTime now) {
  const std::string who = who_asked(remediation, now);
  return remediation.name + " is already " + (who.empty() ? what : who) + "\n";
}

std::unexpected<Error> cancelled_already(const Remediation& remediation) {
  return fail(ErrorKind::kInvalid,
              remediation.name + " is already cancelled; gpuward is closing it");
}

Result<std::string> approve(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto remediation = open_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  const OperatorRequest& wish = remediation->wish;
  const auto& asked = remediation->status.approval;
  const bool is_over = asked && asked->seen_at && clock.wall() - *asked->seen_at > kApprovalLasts;
  if (asked && !is_over && asked->token == flags.token && wish.approved_token == flags.token &&
      !wish.approved_by.empty()) {
    return std::string(to_string(asked->step)) + " of node " + flags.node + " (" +
           remediation->name + ") is already approved by " + wish.approved_by + "\n";
  }
  if (!asked || remediation->status.phase != Phase::kWaiting) {
    return fail(ErrorKind::kInvalid, remediation->name + " has no pending approval");
  }
  if (asked->token != flags.token) {
    return fail(ErrorKind::kInvalid, "the token does not match " + remediation->name +
                                         ": the request has changed; see gpuwardctl explain " +
                                         flags.node);
  }
  // Not the context's name: the API server rejects an approval under any name except the caller's.
  const auto name = api.who_am_i();
  if (!name) return with_context("asking the API server who you are", name.error());
  const auto written = ask(flags, api, clock, *remediation, "approve",
                           {{kApproveAnnotation, flags.token}, {kApprovedByAnnotation, *name}});
  if (!written) return std::unexpected(written.error());
  return *name + " has approved " + std::string(to_string(asked->step)) + " of node " + flags.node +
         " (" + remediation->name + "); the approval is valid for one hour\n";
}

Result<std::string> ask_to_pause(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto remediation = open_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  if (remediation->wish.cancel) return cancelled_already(*remediation);
  if (remediation->wish.pause) return already(*remediation, "paused", clock.wall());
  const auto written = ask(flags, api, clock, *remediation, "pause", {{kPauseAnnotation, "true"}});
  if (!written) return std::unexpected(written.error());
  return remediation->name + " is paused: its taint and cordon stay\n";
}

// Refuses if an operator has changed the node, because resuming would not undo that change.
Result<std::string> resume(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto remediation = open_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  const RemediationStatus& status = remediation->status;
  if (remediation->wish.cancel) return cancelled_already(*remediation);
  if (status.phase == Phase::kPaused && status.rule != kPauseRule) {
    return fail(ErrorKind::kInvalid,
                remediation->name + " is paused because an operator changed the node (" +
                    status.message +
                    "). It stays paused until its alerts end and gpuward's taint, cordon and "
                    "annotation are gone. To close it now: gpuwardctl cancel " +
                    flags.node);
  }
  if (status.phase == Phase::kHeld && !remediation->wish.pause) {
    return fail(
        ErrorKind::kInvalid,
        remediation->name + " is Held, not paused: `gpuwardctl cancel " + flags.node + "` ends it");
  }
  if (!remediation->wish.pause) return remediation->name + " is not paused\n";
  const auto written =
      ask(flags, api, clock, *remediation, "resume", {{kPauseAnnotation, std::nullopt}});
  if (!written) return std::unexpected(written.error());
  return remediation->name + " is resumed\n";
}

// The text to print, and the Remediation to change.
struct Meant {
  std::string text;
  std::optional<Remediation> remediation = {};  // absent: already done
};

Result<Meant> meant_by_cancel(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  auto remediation = open_of(api, flags.node);
  if (!remediation) {
    const auto closed = remediation.error().kind == ErrorKind::kNotFound
                            ? last_closed(api, flags.node)
                            : std::nullopt;
    if (!closed) return std::unexpected(remediation.error());
    return Meant{.text = closed->name + " is already closed: " +
                         std::string(to_string(closed->status.phase)) + "\n"};
  }
  if (remediation->wish.cancel)
    return Meant{.text = already(*remediation, "cancelled", clock.wall())};
  return Meant{.text = {}, .remediation = *std::move(remediation)};
}

Result<Meant> ask_to_cancel(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  auto meant = meant_by_cancel(flags, api, clock);
  if (!meant || !meant->remediation) return meant;
  const auto written =
      ask(flags, api, clock, *meant->remediation, "cancel", {{kCancelAnnotation, "true"}});
  if (!written) return std::unexpected(written.error());
  meant->text = meant->remediation->name + " is cancelled: gpuward removes its taint and cordon\n";
  return meant;
}

// Also finds the last one of a node that is gone: its machine may come back under another node.
Result<Remediation> last_of(kube::Api& api, const std::string& name) {
  auto open = open_of(api, name);
  if (open || open.error().kind != ErrorKind::kNotFound) return open;
  auto known = read_named(api, name);
  if (!known) return std::unexpected(known.error());
  std::erase_if(*known, [](const Remediation& one) { return !was_given_up(one); });
  if (known->empty()) return open;
  return *std::ranges::max_element(*known, {}, &Remediation::created);
}

Result<Meant> meant_by_machine_replaced(const CommandFlags& flags, kube::Api& api) {
  auto remediation = last_of(api, flags.node);
  if (!remediation) return std::unexpected(remediation.error());
  if (remediation->wish.machine_replaced)
    return Meant{.text = remediation->name + ": the machine is already recorded as replaced\n"};
  return Meant{.text = {}, .remediation = *std::move(remediation)};
}

Result<std::string> machine_replaced(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto meant = meant_by_machine_replaced(flags, api);
  if (!meant) return std::unexpected(meant.error());
  if (!meant->remediation) return meant->text;
  const auto written = ask(flags, api, clock, *meant->remediation, "machine-replaced",
                           {{kMachineReplacedAnnotation, "true"}});
  if (!written) return std::unexpected(written.error());
  return meant->remediation->name +
         ": the machine was replaced; the history of the old machine is discarded\n";
}

constexpr const char* kAlreadyClosed = "The circuit breaker is already closed.\n";

std::string text_of(const Breaker& breaker) {
  if (breaker.open) {
    return "The circuit breaker has been open since " + to_rfc3339(breaker.since) + ": " +
           breaker.why + "\n";
  }
  if (breaker.by.empty()) return "The circuit breaker is closed.\n";
  return "The circuit breaker is closed; " + breaker.by + " closed it " +
         to_rfc3339(breaker.since) + "\n";
}

// Returns the known faults of the node in a sentence; empty if none is known.
std::string known_findings(const Remediation& remediation, const Result<kube::Node>& node) {
  if (node && says_healthy(*node)) return "The node's exporter no longer reports a finding.\n";
  if (remediation.status.findings.empty()) return {};
  std::vector<std::string> findings;
  for (const auto& finding : remediation.status.findings) findings.push_back(summary_of(finding));
  return "Still broken, as far as gpuward knows: " + list_first(findings, findings.size()) + ".\n";
}

}  // namespace

Result<std::string> approve_step(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto approved = kube::redo_on_conflict(clock, [&] { return approve(flags, api, clock); });
  if (!approved) return std::unexpected(approved.error());
  return *approved + postponed(flags, api, clock);
}

Result<std::string> pause_node(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto paused =
      kube::redo_on_conflict(clock, [&] { return ask_to_pause(flags, api, clock); });
  if (!paused) return std::unexpected(paused.error());
  return *paused + postponed(flags, api, clock);
}

Result<std::string> resume_node(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto resumed = kube::redo_on_conflict(clock, [&] { return resume(flags, api, clock); });
  if (!resumed) return std::unexpected(resumed.error());
  return *resumed + postponed(flags, api, clock);
}

Result<std::string> cancel_node(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto cancelled =
      kube::redo_on_conflict(clock, [&] { return ask_to_cancel(flags, api, clock); });
  if (!cancelled) return std::unexpected(cancelled.error());
  if (!cancelled->remediation) return cancelled->text;
  return cancelled->text + postponed(flags, api, clock) +
         still_firing(*cancelled->remediation, api.get_node(cancelled->remediation->node));
}

Result<Foreseen> foresee_cancel(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto meant = meant_by_cancel(flags, api, clock);
  if (!meant) return std::unexpected(meant.error());
  if (!meant->remediation) return Foreseen{.text = meant->text, .is_any = false};
  const Remediation& one = *meant->remediation;
  std::string text = "This closes " + one.name +
                     " and removes gpuward's taint and cordon from node " + one.node +
                     ": new pods can start there.\n" + known_findings(one, api.get_node(one.node));
  const auto names = alerts_firing(one);
  if (!names.empty())
    text += "gpuward ignores these alerts until they resolve and fire again: " +
            list_first(names, names.size()) + ".\n";
  return Foreseen{.text = std::move(text), .remediation = one.name};
}

Result<Foreseen> foresee_machine_replaced(const CommandFlags& flags, kube::Api& api,
                                          Clock& /*clock*/) {
  const auto meant = meant_by_machine_replaced(flags, api);
  if (!meant) return std::unexpected(meant.error());
  if (!meant->remediation) return Foreseen{.text = meant->text, .is_any = false};
  const Remediation& one = *meant->remediation;
  return Foreseen{.text = "gpuward forgets that it took the machine of node " + one.node +
                          " out of service with severity " +
                          std::string(to_string(one.acted_severity())) + " (" + one.name +
                          "): the node can return to service.\n" +
                          known_findings(one, api.get_node(one.node)),
                  .remediation = one.name};
}

Result<std::string> note_machine_replaced(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  return kube::redo_on_conflict(clock, [&] { return machine_replaced(flags, api, clock); });
}

Result<std::string> show_breaker(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto ledger = LedgerStore(api, {.ns = flags.state_namespace}, clock).read();
  if (!ledger) return std::unexpected(ledger.error());
  const Breaker& breaker = ledger->breaker;
  if (flags.output != OutputFormat::kTable) return in_format(flags.output, breaker_json(breaker));
  return text_of(breaker);
}

Result<Foreseen> foresee_breaker_close(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto known = LedgerStore(api, {.ns = flags.state_namespace}, clock).read();
  if (!known) return std::unexpected(known.error());
  if (!known->breaker.open) return Foreseen{.text = kAlreadyClosed, .is_any = false};
  const auto all = read_all(api);
  if (!all) return std::unexpected(all.error());
  std::set<std::string> nodes;
  for (const Remediation& one : *all) {
    if (one.open() && !one.is_drill()) nodes.insert(one.node);
  }
  std::string text = text_of(known->breaker) +
                     "Once it is closed, gpuward cordons, drains, restarts and terminates nodes "
                     "again, within the policy and its budgets.\n";
  if (!nodes.empty()) {
    std::vector<std::string> named(nodes.begin(), nodes.end());
    named.resize(std::min(named.size(), kNamedNodes));
    text += std::to_string(nodes.size()) + (nodes.size() == 1 ? " node has" : " nodes have") +
            " an open remediation: " + list_first(named, nodes.size()) + ".\n";
  }
  return Foreseen{.text = std::move(text)};
}

Result<std::string> close_the_breaker(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  LedgerStore store(api, {.ns = flags.state_namespace}, clock);
  const auto known = store.read();
  if (!known) return std::unexpected(known.error());
  if (!known->breaker.open) return kAlreadyClosed;
  const std::string name = caller_of(flags.context_user, api);
  const auto closed = store.change([&](Ledger& ledger) -> Status {
    auto next = close_breaker(ledger, name, clock.wall());
    if (!next) return std::unexpected(next.error());
    ledger = *std::move(next);
    return {};
  });
  if (!closed) return std::unexpected(closed.error());
  return show_breaker(flags, api, clock);
}

}  // namespace gpuward::remediator
