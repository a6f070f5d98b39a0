#include "remediator/act/actions/operand_pause.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "core/kube/gpu_operator_labels.h"
#include "core/kube/gpu_pods.h"
#include "remediator/model/step.h"

namespace gpuward::remediator {
namespace {

// Attempts to write the Node. Other clients write the Node too; a kubelet writes it at most every
// few seconds.
constexpr int kTries = 3;

// Reads the node and sets the labels of the operands that `choose` returns. After a conflict it
// reads and writes again.
Result<Operands> set_labels(const NodeOfOperands& on, std::string_view value,
                            const std::function<Operands(const kube::Node&)>& choose) {
  Result<Operands> done;
  for (int i = 0; i < kTries; ++i) {
    const auto node = on.api.get_node(on.name);
    if (!node && node.error().kind == ErrorKind::kNotFound) return Operands();
    if (!node) return std::unexpected(node.error());
    if (node->meta.uid != on.uid) return Operands();
    Operands chosen = choose(*node);
    if (chosen.empty()) return chosen;
    if (auto allowed = on.permit(); !allowed) return std::unexpected(allowed.error());
    kube::NodeChange change;
    for (const std::string& operand : chosen)
      change.set_labels[operand_label(operand)] = std::string(value);
    const auto changed = on.api.change_node(*node, change);
    if (changed) return chosen;
    done = std::unexpected(changed.error());
    if (changed.error().kind != ErrorKind::kConflict) return done;
  }
  return done;
}

bool is_pod_of(Step step, std::string_view jobs_ns, const kube::Pod& pod) {
  const auto label = pod.meta.labels.find("gpuward.dev/step");
  const bool is_its = label != pod.meta.labels.end() && label->second == to_string(step);
  return is_its && pod.meta.ns == jobs_ns;
}

}  // namespace

Status pause_operands(const NodeOfOperands& node, const Operands& operands) {
  const auto paused = set_labels(node, kube::kPausedForReset, [&](const kube::Node& seen) {
    Operands running = operands;
    std::erase_if(running, [&](const std::string& operand) { return !is_running(seen, operand); });
    return running;
  });
  return paused ? Status() : std::unexpected(paused.error());
}

Result<bool> has_pod_of(Step step, kube::Api& api, const std::string& node,
                        std::string_view jobs_ns, PodLife life) {
  const auto pods = api.list_pods_on(node);
  if (!pods) return std::unexpected(pods.error());
  return std::ranges::any_of(*pods, [&](const kube::Pod& pod) {
    return is_pod_of(step, jobs_ns, pod) && (life == PodLife::kAny || !kube::has_ended(pod));
  });
}

Result<Operands> resume_operands(const NodeOfOperands& node) {
  const auto runs = has_pod_of(Step::kGpuReset, node.api, node.name, node.jobs_ns);
  if (!runs) return std::unexpected(runs.error());
  if (*runs) return fail(ErrorKind::kRefused, "a pod of the reset Job still runs");
  return set_labels(node, "true", paused_operands);
}

}  // namespace gpuward::remediator
