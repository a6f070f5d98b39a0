// What an action is: something done to a node for a Remediation. The plan is pure (what would have
// to change on the node as it was read); carrying it out is one guarded patch. One file an action,
// all in all.cpp.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/api.h"
#include "core/kube/objects.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct ActionOrder {
  const Remediation& remediation;
  std::vector<Step> steps;  // what is to be on the node
  std::string why;          // for the people who look at the node
  WallTime now;
  bool konduktor_taint = false;  // that one is to be on the node beside ours
};

struct NodePlan {
  kube::NodeChange change;
  // Where the plan puts a cordon on the node: whether somebody else had put one there before.
  std::optional<bool> pre_existing_cordon = {};
};

struct Action {
  std::string_view name;  // in metrics and the audit trail
  // nullopt where the node is as it should be. Must not do I/O.
  std::optional<NodePlan> (*plan)(const ActionOrder& order, const kube::Node& node);
};

[[nodiscard]] std::span<const Action> all_actions();
// The action of that name, which must be in the table.
[[nodiscard]] const Action& action(std::string_view name);

}  // namespace gpuward::remediator
