#include "remediator/cli/commands/explain.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "core/command_line/closest.h"
#include "core/kube/names.h"
#include "core/runtime/text.h"
#include "remediator/act/actions/step_progress.h"
#include "remediator/cli/commands/command_json.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "remediator/decide/guards/manual_change.h"
#include "remediator/model/ownership.h"
#include "remediator/model/remediation_name.h"
#include "remediator/model/silent_alerts.h"
#include "remediator/model/step_times.h"
#include "remediator/tell/texts/excluded.h"
#include "remediator/tell/texts/last_command.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostHolders = 10;

std::string time_or_dash(const std::optional<WallTime>& time) {
  return time ? to_rfc3339(*time) : "-";
}

// The advice of a model, or the last known state of a node that does not report.
std::string explain_advice(const AlertEvidence& alert) {
  const bool is_silent = alert.fingerprint.starts_with(kSilentOrigin);
  return std::string("    ") + (is_silent ? "last known: " : "a model says: ") + alert.advice +
         "\n";
}

std::string explain_alert(const AlertEvidence& alert) {
  return "  alert " + alert.alertname + " (" + alert.fingerprint + "), severity " +
         std::string(to_string(alert.severity)) + ", since " + to_rfc3339(alert.starts_at) +
         (alert.firing() ? ", firing" : ", ended " + time_or_dash(alert.ended_at)) +
         (alert.foreign ? ", foreign" : "") + (alert.drill ? ", drill" : "") +
         (alert.error_class.empty() ? "" : ", " + alert.error_class) + "\n" +
         (alert.advice.empty() ? "" : explain_advice(alert));
}

// Returns when the step was first done, if its record has a later time.
std::string first_time(const StepRecord& step, const RemediationStatus& status) {
  constexpr std::array<std::pair<Step, Milestone>, 3> kMilestones{
      {{Step::kTaint, Milestone::kTainted},
       {Step::kCordon, Milestone::kCordoned},
       {Step::kDrain, Milestone::kDrained}}};
  const auto* const known =
      std::ranges::find(kMilestones, step.step, [](auto& one) { return one.first; });
  if (known == kMilestones.end() || step.attempts < 2) return {};
  const auto reached = status.reached.find(known->second);
  const bool is_earlier =
      reached != status.reached.end() && step.intent_at && reached->second < *step.intent_at;
  return is_earlier ? " (done first " + to_rfc3339(reached->second) + ")" : "";
}

std::string explain_step(const StepRecord& step, const RemediationStatus& status) {
  return "  step " + std::string(to_string(step.step)) + ": " +
         std::string(to_string(step.result)) + ", intended " + time_or_dash(step.intent_at) +
         ", finished " + time_or_dash(step.finished_at) + first_time(step, status) + ", attempts " +
         std::to_string(step.attempts);
}

// One decision sets taint and cordon, so its message is printed once.
std::string explain_steps(const RemediationStatus& status) {
  std::string text;
  std::set<std::string> known = {"", status.message};
  for (const StepRecord& step : status.steps) {
    const bool is_new = known.insert(step.message).second;
    text += explain_step(step, status) + (is_new ? ": " + step.message : "") + "\n";
  }
  return text;
}

std::string explain_approval(const ApprovalRecord& approval) {
  const std::string step(to_string(approval.step));
  if (approval.seen_at) {
    return "  " + step + " was approved by " + escaped_line(approval.by) + ", " +
           to_rfc3339(*approval.seen_at) + "\n";
  }
  return "  approval of " + step + " requested at " + to_rfc3339(approval.requested_at) + "\n";
}

std::string explain_finding(const NodeFinding& finding, bool is_open) {
  std::string text = (is_open ? "  broken: " : "  was broken: ") + summary_of(finding);
  if (!finding.serial.empty()) text += ", serial " + finding.serial;
  text += ", severity " + finding.severity + ", since " + to_rfc3339(finding.first_seen) + "\n";
  if (!finding.meaning.empty()) text += "    meaning: " + finding.meaning + "\n";
  if (!finding.line.empty()) text += "    seen: " + escaped_line(finding.line) + "\n";
  if (finding.severity == "reset" || finding.severity == "reboot" ||
      finding.severity == "isolate") {
    text +=
        finding.witness.empty()
            ? "    witness: none yet; a line of the kernel log alone justifies at most the cordon\n"
            : "    witness: " + escaped_line(finding.witness) + "\n";
  }
  if (!finding.workload.empty()) text += "    used by: " + escaped_line(finding.workload) + "\n";
  return text;
}

// Returns the commands with which an operator can change the next step.
std::string explain_commands(const Remediation& remediation, const std::string& ends_exclusion) {
  if (!remediation.open()) return {};
  const RemediationStatus& status = remediation.status;
  const auto command = [&](std::string_view verb, std::string_view what) {
    return "  to " + std::string(what) + ": gpuwardctl " + std::string(verb) + " " +
           remediation.node;
  };
  std::string text;
  if (const AlertEvidence* alert = alert_with_runbook(remediation))
    text += "  for instructions: gpuwardctl runbook " + alert->alertname + "\n";
  if (status.phase == Phase::kHeld)
    text += "  to read why it is held: gpuwardctl runbook GpuRemediationHeld\n";
  if (remediation.wish.cancel)
    return text + "  cancelled: it closes as soon as gpuward can change the node\n";
  const bool is_excluded = !ends_exclusion.empty();
  if (is_excluded) text += "  to let gpuward act on it again: " + ends_exclusion + "\n";
  if (awaits_approval(remediation) && !is_excluded) {
    text += command("approve", "let it " + std::string(to_string(status.approval->step))) + " " +
            status.approval->token + "\n";
  }
  if (remediation.wish.pause) {
    text += command("resume", "resume") + "\n";
  } else if (status.phase != Phase::kPaused && !is_excluded) {
    text += command("pause", "pause") + "\n";
  }
  return text + command("cancel", "remove gpuward's taint and cordon and close the remediation") +
         "\n";
}

std::string explain_jobs(const Remediation& remediation) {
  const std::vector<std::string> jobs = jobs_drained(remediation);
  if (jobs.empty()) return {};
  return "  jobs that lost pods: " + escaped_line(list_first(jobs, jobs.size())) + "\n";
}

// Returns the chain of reasons without those in other lines: the alerts, and the final decision.
std::string explain_reasons(const RemediationStatus& status) {
  std::string text;
  const auto names_rule = [&](const std::string& reason) {
    return reason.starts_with("policy " + status.rule);
  };
  if (!status.rule.empty() && std::ranges::none_of(status.reasons, names_rule))
    text += "  rule " + status.rule + "\n";
  for (const std::string& reason : status.reasons) {
    const bool is_alert = reason.starts_with("alert ") || reason.starts_with("foreign alert ") ||
                          reason.starts_with("drill alert ");
    if (!is_alert && reason != status.message) text += "  because " + reason + "\n";
  }
  return text;
}

// Leaves out repeated lines, and the current message, which is printed at the top.
std::string explain_history(const Remediation& remediation) {
  std::string text, last;
  for (const std::string& line : remediation.status.history) {
    const bool is_now = remediation.open() && line.ends_with(" " + remediation.status.message);
    if (line != last && !is_now) text += "  before: " + line + "\n";
    last = line;
  }
  return text;
}

std::string explain_one(const Remediation& remediation, WallTime now,
                        const std::string& ends_exclusion) {
  const RemediationStatus& status = remediation.status;
  std::string text = remediation.name + ": " + std::string(to_string(status.phase)) +
                     ", severity " + std::string(to_string(remediation.acted_severity())) +
                     ", mode " + std::string(to_string(status.mode)) +
                     (remediation.is_drill() ? ", drill" : "") + "\n";
  const std::string reason = reason_of(remediation, now);
  const std::string who = who_asked(remediation, now);
  if (!reason.empty()) text += "  now: " + escaped_line(reason) + "\n";
  if (!who.empty() && who != reason) text += "  " + escaped_line(who) + "\n";
  const bool is_at_its_end = status.phase == Phase::kQuarantined && status.mode < Mode::kFull &&
                             status.rule.starts_with("severities.");
  if (is_at_its_end) {
    text += "  next: nothing; mode " + std::string(to_string(status.mode)) +
            " ends here. Drain and repair the node yourself\n";
  }
  for (const NodeFinding& finding : status.findings)
    text += explain_finding(finding, remediation.open());
  text += explain_jobs(remediation);
  for (const AlertEvidence& alert : remediation.alerts) text += explain_alert(alert);
  if (status.confirmed_severity) {
    text +=
        "  severity with a second witness: " + std::string(to_string(*status.confirmed_severity)) +
        "\n";
  }
  if (!status.error_class.empty()) text += "  the worst finding is " + status.error_class + "\n";
  for (const std::string& gpu : status.gpus)
    text += "  GPU " + gpu + (remediation.open() ? " is" : " was") + " among the unhealthy ones\n";
  if (remediation.evidence_severity() != remediation.severity) {
    text += "  treated as severity " + std::string(to_string(remediation.evidence_severity())) +
            " since a report of " + to_rfc3339(status.cleared->at) + "\n";
  }
  if (remediation.dropped) {
    text += "  alerts up to severity " + std::string(to_string(remediation.dropped->severity)) +
            " fired but were not stored; last at " + to_rfc3339(remediation.dropped->at) + "\n";
  }
  if (status.escalated_to) {
    text += "  escalated to " + std::string(to_string(*status.escalated_to)) + " from severity " +
            std::string(to_string(remediation.evidence_severity())) + "\n";
  }
  if (status.approval) text += explain_approval(*status.approval);
  text += explain_history(remediation);
  text += explain_reasons(status);
  text += explain_steps(status);
  const std::string times = remediation.is_drill() ? step_times_text(remediation, status) : "";
  if (!times.empty()) text += "  since the alert: " + times + "\n";
  return text + explain_commands(remediation, ends_exclusion);
}

// Returns one line for a closed Remediation other than the last, and the command for the rest of
// it.
std::string explain_earlier(const Remediation& remediation) {
  const RemediationStatus& status = remediation.status;
  return remediation.name + ": " + std::string(to_string(status.phase)) + " " +
         time_or_dash(status.closed_at) + ", severity " +
         std::string(to_string(remediation.acted_severity())) +
         (status.findings.empty() ? "" : ", " + summary_of(status.findings.front())) +
         "\n  for the full history: gpuwardctl explain " + remediation.name + "\n";
}

std::string explain_ownership_of(const kube::Node& node, const Remediation& open) {
  // Any further difference follows from this one.
  auto why = manual_change(open, node);
  if (!why) why = disagreement(open, node);
  return why ? "Node " + node.meta.name + " and " + open.name + " disagree: " + *why + ".\n" : "";
}

// If the node cannot be read, this is all that is printed.
std::string taint_and_cordon_in(const Result<kube::Node>& node,
                                std::span<const Remediation> remediations) {
  if (node) return explain_ownership(*node, remediations);
  if (node.error().kind == ErrorKind::kNotFound) return "";
  return "Cannot check the node's taint and cordon: " + node.error().message + "\n";
}

// Returns the kind of slot that the Remediation waits for; nullopt if it waits for none that
// another one may hold.
std::optional<Impact> slot_waited_for(const Remediation& remediation) {
  const RemediationStatus& status = remediation.status;
  if (!remediation.open()) return std::nullopt;
  const auto is_one_of = [&](std::initializer_list<std::string_view> rules) {
    return std::ranges::find(rules, status.rule) != rules.end();
  };
  if (is_one_of({"budget.cluster", "budget.pool", "budget.zone", "budget.label"}))
    return Impact::kDisrupt;
  if (is_one_of({"budget.cordon", "budget.min-healthy"})) return Impact::kCordon;
  return std::nullopt;
}

struct SlotHolder {
  const Slot* slot;
  const Remediation* remediation;  // null: it was deleted

  [[nodiscard]] bool is_for_operator() const {
    return remediation == nullptr || needs_operator(remediation->status.phase);
  }
};

std::vector<SlotHolder> holders_of(const Ledger& ledger, Impact impact,
                                   std::span<const Remediation> all) {
  std::vector<SlotHolder> holders;
  for (const Slot& slot : ledger.slots) {
    if (slot.impact < impact) continue;
    const auto found = std::ranges::find(all, slot.remediation, &Remediation::name);
    holders.push_back({&slot, found == all.end() ? nullptr : &*found});
  }
  std::ranges::sort(holders, [](const SlotHolder& a, const SlotHolder& b) {
    return std::pair(!a.is_for_operator(), a.slot->since) <
           std::pair(!b.is_for_operator(), b.slot->since);
  });
  return holders;
}

std::string explain_holder(const SlotHolder& holder) {
  const std::string text = "  " + holder.slot->remediation + ", " +
                           std::string(to_string(holder.slot->impact)) + " since " +
                           to_rfc3339(holder.slot->since);
  if (holder.remediation == nullptr) return text + ": that remediation has been deleted\n";
  const RemediationStatus& status = holder.remediation->status;
  return text + ", node " + holder.remediation->node + ": " + std::string(to_string(status.phase)) +
         ", " + status.message + "\n";
}

std::vector<std::string> names_of_nodes(kube::Api& api, std::span<const Remediation> all) {
  std::vector<std::string> names;
  for (const kube::Node& node : api.list_nodes().value_or(std::vector<kube::Node>()))
    names.push_back(node.meta.name);
  for (const Remediation& one : all) names.push_back(one.node);
  return names;
}

// Whether the node is excluded: one line for each reason, and the command that ends it.
struct NodeExclusion {
  std::string text, ends_by;
};

NodeExclusion node_exclusion(const CommandFlags& flags, kube::Api& api, Clock& clock,
                             const kube::Node& node) {
  NodeExclusion found;
  const auto list = ExclusionStore(api, flags.state_namespace, clock).read();
  if (!list) return {.text = list.error().message + "\n", .ends_by = {}};
  if (const auto hit = exclusion_for(*list, node, clock.wall()))
    found = {.text = hit->why + "\n", .ends_by = "gpuwardctl exclusions remove " + hit->subject};
  const Policy policy = read_cluster_policy(api, flags.state_namespace).value_or(Policy());
  if (const auto why = exclusion_of(policy, node)) {
    found.text += node.meta.name + " is excluded: " + *why + "\n";
    const bool is_label = node.meta.labels.contains(std::string(kManagedLabel));
    found.ends_by =
        is_label ? "kubectl label node " + node.meta.name + " " + std::string(kManagedLabel) + "-"
                 : "change the policy";
  }
  return found;
}

// All records about one node.
struct NodeRecord {
  std::string node;
  std::vector<kube::CustomObject> objects;  // of this node
  std::vector<Remediation> remediations;    // of this node, newest first; one given by name first
  std::vector<Remediation> all;             // of all nodes
};

// `name`: of a node, or of one of its Remediations.
Result<NodeRecord> read_record(kube::Api& api, const std::string& name) {
  // By spec.nodeName and not by label, because a Remediation created by a user has no labels.
  auto objects = api.list_custom(remediation_type(), "");
  if (!objects) return with_context("reading remediations", objects.error());
  NodeRecord record{.node = name, .objects = {}, .remediations = {}, .all = {}};
  std::erase_if(*objects, [&](const kube::CustomObject& object) {
    auto remediation = to_remediation(object);
    if (!remediation) return true;
    if (remediation->name == name) record.node = remediation->node;
    record.all.push_back(*std::move(remediation));
    return false;
  });
  for (std::size_t i = 0; i < record.all.size(); ++i) {
    if (record.all[i].node != record.node) continue;
    record.remediations.push_back(record.all[i]);
    record.objects.push_back(std::move((*objects)[i]));
  }
  std::ranges::sort(record.remediations, [&](const Remediation& a, const Remediation& b) {
    return std::pair(a.name != name, b.created) < std::pair(b.name != name, a.created);
  });
  return record;
}

}  // namespace

std::string ignored_alerts(const Remediation& remediation, const kube::Node& node) {
  const bool is_of_another =
      !remediation.open() && remediation.node_uid != node.meta.uid && node.meta.created;
  const bool is_cancelled = remediation.status.phase == Phase::kCancelled;
  std::string text;
  for (const AlertEvidence& alert : remediation.alerts) {
    const std::string what = "ignored: alert " + alert.alertname + " (" + alert.fingerprint +
                             ") since " + to_rfc3339(alert.starts_at);
    if (is_of_another && alert.firing() && alert.starts_at < *node.meta.created) {
      text += what + ": it started before the node joined " + to_rfc3339(*node.meta.created) +
              ". It counts only if the machine is known to be the same\n";
    } else if (is_cancelled && alert.firing() && remediation.node_uid == node.meta.uid &&
               !says_healthy(node)) {
      text += what + ": " + remediation.name +
              " was cancelled. The alert counts again once it has resolved and fires again\n";
    }
  }
  return text;
}

std::string explain(const std::string& node, std::span<const Remediation> remediations,
                    WallTime now, const std::string& ends_exclusion) {
  if (remediations.empty()) return "Node " + node + " has no remediation.\n";
  std::string text;
  for (const Remediation& remediation : remediations) {
    const bool is_whole = remediation.open() || &remediation == &remediations.front();
    text += is_whole ? explain_one(remediation, now, ends_exclusion) : explain_earlier(remediation);
  }
  return text;
}

std::string explain_ownership(const kube::Node& node, std::span<const Remediation> remediations) {
  for (const Remediation& remediation : remediations) {
    if (remediation.node_uid == node.meta.uid && remediation.open())
      return explain_ownership_of(node, remediation);
  }
  if (!has_our_taint_or_annotation(node) && left_cordon(remediations, node) == nullptr) return "";
  return "Node " + node.meta.name + " has " + ownership_text(node) +
         ", and no remediation is open for it.\n";
}

std::string explain_slots(const std::string& node, const Result<Ledger>& ledger,
                          std::span<const Remediation> all) {
  std::optional<Impact> wanted;
  for (const Remediation& remediation : all) {
    if (remediation.node == node && !wanted) wanted = slot_waited_for(remediation);
  }
  if (!wanted) return {};
  if (!ledger) return "Cannot tell who holds the slots: " + ledger.error().message + "\n";
  const auto holders = holders_of(*ledger, *wanted, all);
  const bool is_one = holders.size() == 1;
  std::string text =
      "Budget slots in use by " + std::to_string(holders.size()) +
      (is_one ? " remediation, until it is closed" : " remediations, until each is closed") +
      (holders.empty() ? ".\n" : ":\n");
  for (const SlotHolder& holder : holders | std::views::take(kMostHolders))
    text += explain_holder(holder);
  if (holders.size() > kMostHolders)
    text += "  and " + std::to_string(holders.size() - kMostHolders) + " more\n";
  return text;
}

Result<std::string> explain_node(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  if (auto valid = kube::validate_node_name(flags.node); !valid) {
    return std::unexpected(valid.error());
  }
  const auto record = read_record(api, flags.node);
  if (!record) return std::unexpected(record.error());
  const auto& [name, objects, remediations, all] = *record;
  const auto current = api.get_node(name);
  kube::Node node = current.value_or(kube::Node());
  node.meta.name = name;
  if (!current && !remediations.empty()) node.provider_id = remediations.front().instance_id;
  const bool is_gone = !current && current.error().kind == ErrorKind::kNotFound;
  if (is_gone && remediations.empty())
    return fail(ErrorKind::kNotFound, "there is no node " + name +
                                          " and no remediation for a node with that name" +
                                          did_you_mean(name, names_of_nodes(api, all)));
  const NodeExclusion exclusion = node_exclusion(flags, api, clock, node);
  const std::string marks = taint_and_cordon_in(current, remediations);
  if (flags.output != OutputFormat::kTable)
    return in_format(flags.output, explanation_json(name, exclusion.text, marks, objects));
  std::string ignored;
  if (is_gone) ignored = "There is no node " + name + ": alerts about it are ignored.\n";
  for (const Remediation& remediation : remediations) {
    if (current) ignored += ignored_alerts(remediation, *current);
  }
  LedgerStore ledger(api, {.ns = flags.state_namespace}, clock);
  const std::string slots = explain_slots(name, ledger.read(), all);
  return exclusion.text + marks + explain(name, remediations, clock.wall(), exclusion.ends_by) +
         slots + ignored;
}

}  // namespace gpuward::remediator
