#include "remediator/actions/operand_pause.h"

#include <algorithm>
#include <string_view>

namespace gpuward::remediator {
namespace {

// A kubelet writes its Node's status every few seconds at most.
constexpr int kTries = 3;

Status set_labels(kube::Api& api, const kube::Node& node, const Operands& operands,
                  std::string_view value, const Permit& permit) {
  kube::NodeChange change;
  for (const std::string& operand : operands)
    change.set_labels[operand_label(operand)] = std::string(value);
  if (change.set_labels.empty()) return {};
  if (auto allowed = permit(); !allowed) return allowed;
  const auto changed = api.change_node(node, change);
  return changed ? Status() : std::unexpected(changed.error());
}

}  // namespace

Status pause_operands(kube::Api& api, const kube::Node& node, const Operands& operands,
                      const Permit& permit) {
  Operands running = running_operands(node);
  std::erase_if(running, [&](const std::string& operand) {
    return std::ranges::find(operands, operand) == operands.end();
  });
  return set_labels(api, node, running, kPausedForReset, permit);
}

Status resume_operands(kube::Api& api, const std::string& name, const std::string& uid,
                       const Permit& permit) {
  Status resumed;
  for (int i = 0; i < kTries; ++i) {
    const auto node = api.get_node(name);
    if (!node && node.error().kind == ErrorKind::kNotFound) return {};
    if (!node) return std::unexpected(node.error());
    if (node->meta.uid != uid) return {};
    resumed = set_labels(api, *node, paused_operands(*node), "true", permit);
    if (resumed || resumed.error().kind != ErrorKind::kConflict) return resumed;
  }
  return resumed;
}

}  // namespace gpuward::remediator
