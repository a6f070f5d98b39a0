#include "remediator/act/left_operands.h"

#include <algorithm>
#include <string>
#include <utility>

#include "remediator/act/actions/operand_pause.h"
#include "remediator/cluster/view_queries.h"

namespace gpuward::remediator {
namespace {

// Returns whether a reset needs the operands. It lists all Remediations, because the view may miss
// a reset that has just started. Few nodes need this check.
Result<bool> is_needed(const ReconcilerParts& parts, const kube::Node& node) {
  const auto all = parts.store.list_all();
  if (!all) return std::unexpected(all.error());
  return std::ranges::any_of(*all, [&](const Remediation& one) {
    return one.node_uid == node.meta.uid && needs_operands_paused(one);
  });
}

Status resume_left_on(const ReconcilerParts& parts, const std::string& name) {
  const auto node = parts.api.get_node(name);
  if (!node && node.error().kind == ErrorKind::kNotFound) return {};
  if (!node) return std::unexpected(node.error());
  if (!parts.permit()) return {};  // the stop switch reports why
  const Permit permit = [&]() -> Status {
    if (auto allowed = parts.permit(); !allowed) return allowed;
    const auto needed = is_needed(parts, *node);
    if (!needed) return std::unexpected(needed.error());
    return *needed ? fail(ErrorKind::kRefused, "a reset has begun") : Status();
  };
  const auto resumed =
      resume_operands({parts.api, name, node->meta.uid, parts.policy.get()->jobs.ns, permit});
  if (resumed || resumed.error().kind == ErrorKind::kRefused) return {};
  return std::unexpected(resumed.error());
}

}  // namespace

Status resume_left_operands(const ReconcilerParts& parts, std::set<std::string>& left) {
  if (!parts.view.informers().synced()) return {};
  Status all;
  const std::set<std::string> left_before = std::exchange(left, {});
  for (const auto& [name, is_needed] : nodes_with_paused_operands(parts.view)) {
    if (is_needed) continue;
    left.insert(name);
    if (!left_before.contains(name)) continue;
    auto resumed = resume_left_on(parts, name);
    if (!resumed) all = with_context("resuming the operands of node " + name, resumed.error());
  }
  return all;
}

}  // namespace gpuward::remediator
