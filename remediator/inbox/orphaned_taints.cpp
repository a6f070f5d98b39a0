#include "remediator/inbox/orphaned_taints.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/runtime/text.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/model/evidence.h"
#include "remediator/model/ownership.h"
#include "remediator/model/remediation_name.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kToBeOpened{10};

// `records`: all of the node's UID.
bool is_orphaned(const kube::Node& node, const std::vector<Remediation>& records) {
  if (node.meta.deleting || std::ranges::any_of(records, std::mem_fn(&Remediation::open)))
    return false;
  return has_our_taint_or_annotation(node) || left_cordon(records, node) != nullptr;
}

// A new fingerprint each time: the cancellation of an earlier one does not cover what came later.
AlertSignal signal_for(const kube::Node& node, const std::vector<Remediation>& records,
                       WallTime now) {
  const std::string which = records.empty() ? "" : records.back().name;
  return {.node = node.meta.name,
          .severity = Severity::kMonitor,
          .alertname = std::string(kOrphanedAlert),
          .fingerprint = std::string(kOrphanedOrigin) +
                         short_hash(std::string(kOrphanedAlert) + '\n' + node.meta.uid + '\n' +
                                    which + '\n' + to_rfc3339(now)),
          .firing = true,
          // The API server's clock may be ahead, and gpuward ignores alerts older than their node.
          .starts_at = std::max(now, node.meta.created.value_or(now)),
          .ends_at = {}};
}

}  // namespace

Status OrphanedTaints::take_in() {
  if (!view_.informers().synced()) return {};
  std::vector<AlertSignal> signals;
  for (const std::string& name : nodes_with_orphaned_taints(view_)) {
    auto signal = find_orphan(name);
    if (!signal) return with_context("taint or cordon without a record", signal.error());
    if (*signal) signals.push_back(**std::move(signal));
  }
  std::vector<Remediation> told;
  for_each_remediation(view_, [&](const Remediation& remediation) {
    if (remediation.open() && remediation.orphaned_taints() != nullptr) told.push_back(remediation);
  });
  for (const Remediation& remediation : told) {
    auto signal = find_settled(remediation);
    if (!signal) return with_context("taint or cordon without a record", signal.error());
    if (*signal) signals.push_back(**std::move(signal));
  }
  if (signals.empty()) return {};
  const auto taken = intake_.take(signals, clock_.steady() + kToBeOpened);
  if (!taken) return with_context("taint or cordon without a record", taken.error());
  return {};
}

// The records are read between two reads of the node that show the same version of it: the node's
// present state was there while no record was open.
Result<std::optional<AlertSignal>> OrphanedTaints::find_orphan(const std::string& name) {
  const auto before = read(name);
  if (!before) return std::unexpected(before.error());
  if (!*before) return std::nullopt;
  const auto records = records_of((*before)->meta.uid);
  if (!records) return std::unexpected(records.error());
  if (!is_orphaned(**before, *records)) return std::nullopt;
  const auto after = read(name);
  if (!after) return std::unexpected(after.error());
  const bool is_same = *after && (*after)->meta.uid == (*before)->meta.uid &&
                       (*after)->meta.resource_version == (*before)->meta.resource_version;
  if (!is_same) return std::nullopt;  // again in the next round
  return signal_for(**after, *records, clock_.wall());
}

Result<std::optional<AlertSignal>> OrphanedTaints::find_settled(const Remediation& remediation) {
  const auto now = store_.read(remediation.name);
  if (!now && now.error().kind != ErrorKind::kNotFound) return std::unexpected(now.error());
  const AlertEvidence* alert = now ? now->orphaned_taints() : nullptr;
  if (alert == nullptr || !now->open()) return std::nullopt;
  const auto node = read(now->node);
  if (!node) return std::unexpected(node.error());
  if (!*node || (*node)->meta.uid != now->node_uid) return std::nullopt;
  const bool is_known = !has_our_taint_or_annotation(**node) || now->status.has_done(Step::kTaint);
  const bool has_foreign_cordon = (*node)->unschedulable && !is_own_cordon(*now, **node);
  if (!is_known || has_foreign_cordon || disagreement(*now, **node)) return std::nullopt;
  return AlertSignal{.node = now->node,
                     .severity = alert->severity,
                     .alertname = alert->alertname,
                     .fingerprint = alert->fingerprint,
                     .firing = false,
                     .starts_at = alert->starts_at,
                     .ends_at = clock_.wall()};
}

Result<std::optional<kube::Node>> OrphanedTaints::read(const std::string& node) {
  auto found = api_.get_node(node);
  if (found) return std::move(*found);
  if (found.error().kind == ErrorKind::kNotFound) return std::nullopt;
  return std::unexpected(found.error());
}

// Not selected by labels, which people may edit. There is seldom a node to check.
Result<OrphanedTaints::Records> OrphanedTaints::records_of(const std::string& node_uid) {
  auto all = store_.list_all();
  if (!all) return all;
  std::erase_if(*all, [&](const Remediation& one) { return one.node_uid != node_uid; });
  std::ranges::sort(*all, {}, [](const Remediation& one) { return count_in(one.name); });
  return all;
}

}  // namespace gpuward::remediator
