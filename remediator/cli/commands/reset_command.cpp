#include "remediator/cli/commands/reset_command.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/kube/redo_on_conflict.h"
#include "core/kube/update_node.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/model/node_mark.h"
#include "remediator/policy/konduktor_taint.h"
#include "remediator/tell/texts/last_command.h"

namespace gpuward::remediator {
namespace {

// gpuward's taint, and that of the controller that the Loki source replaces.
constexpr std::array<std::string_view, 2> kResettable = {kTaintKey, kKonduktorTaintKey};

bool has_taint(const kube::Node& node, const std::string& key) {
  return std::ranges::any_of(node.taints, [&](const kube::Taint& taint) {
    return taint.key == key && taint.effect == kTaintEffect;
  });
}

// Returns them by node UID.
Result<std::map<std::string, Remediation>> open_remediations(kube::Api& api) {
  const auto objects = api.list_custom(remediation_type());
  if (!objects) return with_context("reading remediations", objects.error());
  std::map<std::string, Remediation> open;
  for (const kube::CustomObject& object : *objects) {
    auto remediation = to_remediation(object);
    if (!remediation) return with_context("reading remediations", remediation.error());
    if (!remediation->open()) continue;
    std::string uid = remediation->node_uid;
    open.emplace(std::move(uid), std::move(*remediation));
  }
  return open;
}

// Handles that the remediator writes to it, or ends it, at the same moment.
Status cancel_open(const std::string& caller, kube::Api& api, Clock& clock,
                   const std::string& name) {
  RemediationStore store(api);
  const auto cancel = [&]() -> Status {
    const auto remediation = store.read(name);
    if (!remediation && remediation.error().kind == ErrorKind::kNotFound) return {};
    if (!remediation) return std::unexpected(remediation.error());
    if (!remediation->open()) return {};
    return ask_as(caller, "cancel", api, clock, *remediation, {{kCancelAnnotation, "true"}});
  };
  auto cancelled = kube::redo_on_conflict(clock, cancel);
  return cancelled ? cancelled : with_context("cancelling " + name, cancelled.error());
}

Status take_taint_off(const CommandFlags& flags, kube::Api& api, Clock& clock,
                      const kube::Node& node) {
  const auto decide = [&](const kube::Node& now) -> std::optional<kube::NodeChange> {
    if (!has_taint(now, flags.taint)) return std::nullopt;
    kube::NodeChange change;
    change.remove_taints.push_back(
        {.key = flags.taint, .value = {}, .effect = std::string(kTaintEffect), .raw = {}});
    return change;
  };
  const auto updated =
      kube::update_node(api, {.name = node.meta.name, .uid = node.meta.uid}, decide, clock);
  return updated ? Status() : std::unexpected(updated.error());
}

struct Outcome {
  std::string words;
  bool done = true;
};

// A node with the taint, and its open Remediation.
struct Tainted {
  kube::Node node;
  const Remediation* open = nullptr;
};

// Identifies the change of that node: its machine, and the Remediation to cancel.
std::string change_of(const Tainted& one) {
  return one.node.meta.uid + ' ' + (one.open == nullptr ? "" : one.open->name);
}

// Returns why the node is refused; empty if it is not.
std::string refusal(const CommandFlags& flags, const Tainted& one) {
  if (one.open != nullptr && !flags.cancels)
    return "refused: " + one.open->name + " is open; to cancel it, add --cancel";
  if (flags.allowed && !flags.allowed->contains(change_of(one)))
    return "refused: the node or its remediation changed after you confirmed; run reset again";
  return {};
}

// An exporter with node.preset konduktor sets that taint again while it has a finding.
bool is_set_again(const CommandFlags& flags, const kube::Node& node) {
  return flags.taint == kKonduktorTaintKey &&
         std::ranges::any_of(node.conditions, [](const kube::NodeCondition& condition) {
           return condition.type == "GPUProblem" && condition.status == "True";
         });
}

std::string outcome_words(const CommandFlags& flags, const std::string& words, const Tainted& one) {
  return words + (one.open == nullptr ? "" : ", " + one.open->name + " cancelled") +
         (is_set_again(flags, one.node) ? "; GPUProblem is True: an exporter with node.preset "
                                          "konduktor sets the taint again until its finding is "
                                          "cleared (gpuward-exporter findings clear)"
                                        : "");
}

Outcome reset_node(const CommandFlags& flags, const std::string& caller, kube::Api& api,
                   Clock& clock, const Tainted& one) {
  if (auto why = refusal(flags, one); !why.empty()) return {std::move(why), false};
  if (one.open != nullptr) {
    if (auto cancelled = cancel_open(caller, api, clock, one.open->name); !cancelled)
      return {"failed: " + cancelled.error().message, false};
  }
  if (auto removed = take_taint_off(flags, api, clock, one.node); !removed)
    return {"failed: " + removed.error().message, false};
  return {outcome_words(flags, "removed", one)};
}

Outcome foresee_node(const CommandFlags& flags, const Tainted& one) {
  if (auto why = refusal(flags, one); !why.empty()) return {std::move(why), false};
  return {outcome_words(flags, "would be removed", one)};
}

std::string row_of(const std::string& node, std::size_t width, const std::string& words) {
  return node + std::string(width - node.size() + 2, ' ') + words + "\n";
}

// Returns a line for each node with the taint, with the outcome of `treat`.
Result<ResetResult> for_each_tainted(const CommandFlags& flags, kube::Api& api,
                                     const std::function<Outcome(const Tainted&)>& treat) {
  if (std::ranges::find(kResettable, flags.taint) == kResettable.end())
    return fail(ErrorKind::kInvalid, "--taint: not one of gpuward's taints; nothing was removed");
  const auto nodes = api.list_nodes();
  if (!nodes) return with_context("reading nodes", nodes.error());
  const auto open = open_remediations(api);
  if (!open) return std::unexpected(open.error());
  std::size_t width = std::string_view("NODE").size();
  for (const kube::Node& node : *nodes) width = std::max(width, node.meta.name.size());
  ResetResult report;
  for (const kube::Node& node : *nodes) {
    if (!has_taint(node, flags.taint)) continue;
    const auto known = open->find(node.meta.uid);
    const Outcome outcome =
        treat({.node = node, .open = known == open->end() ? nullptr : &known->second});
    report.table += row_of(node.meta.name, width, outcome.words);
    report.all_done = report.all_done && outcome.done;
  }
  report.table = report.table.empty() ? "No node has the taint " + flags.taint + ".\n"
                                      : row_of("NODE", width, flags.taint) + report.table;
  return report;
}

}  // namespace

Result<ResetResult> reset_taints(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  std::optional<std::string> caller;
  return for_each_tainted(flags, api, [&](const Tainted& one) {
    if (!caller && one.open != nullptr) caller = caller_of(flags.context_user, api);
    return reset_node(flags, caller.value_or(""), api, clock, one);
  });
}

Result<Foreseen> foresee_reset(const CommandFlags& flags, kube::Api& api, Clock& /*clock*/) {
  std::set<std::string> changes;
  auto report = for_each_tainted(flags, api, [&](const Tainted& one) {
    auto outcome = foresee_node(flags, one);
    if (outcome.done) changes.insert(change_of(one));
    return outcome;
  });
  if (!report) return std::unexpected(report.error());
  const std::size_t count = changes.size();
  if (count > 0)
    report->table += std::to_string(count) + (count == 1 ? " node takes" : " nodes take") +
                     " new pods again, unless another taint or a cordon keeps them away.\n";
  return Foreseen{.text = std::move(report->table),
                  .is_any = count > 0,
                  .all_done = report->all_done,
                  .changes = std::move(changes)};
}

}  // namespace gpuward::remediator
