#include "exporter/watch/asking_label.h"

#include <string_view>

#include "core/kube/gpu_operator_labels.h"

namespace gpuward::exporter {
namespace {

// k8s-driver-manager (cmd/driver-manager/main.go: maybeSetPaused, maybeSetTrue) and mig-manager set
// them from `true` to `paused-for-driver-upgrade` or `paused-for-mig-change`, and append that to
// any other value. driver-manager sets them back once the old driver is unloaded, before the new
// one is loaded, so that its validation finds the GPUs in use again.
//
// The remediator's value alone does not count, because its reset Job asks the exporter itself.
bool asks(std::string_view value) {
  constexpr std::string_view kOwn = kube::kPausedForReset;
  std::string others(value);
  for (auto at = others.find(kOwn); at != std::string::npos; at = others.find(kOwn, at))
    others.erase(at, kOwn.size());
  return others.contains(kube::kPause);
}

// The operator's state of the node (k8s-operator-libs, pkg/upgrade/consts.go). Only in this one is
// the driver replaced: ProcessPodRestartNodes (common_manager.go) deletes the driver's pod, whose
// end unloads the module (_shutdown in gpu-driver-container's nvidia-driver) before any label is
// paused, and ends the state when the new pod is ready. In the states before, jobs may run, and
// their GPUs must be read: the operator waits for them, deletes their pods, drains the node, or has
// it drained (`node-maintenance-required`). `validation-required` and the states after it have the
// new driver. `upgrade-failed` may be a drain that failed; if a driver's pod tries again then, it
// pauses the labels. No version so far sets `post-maintenance-required`.
constexpr std::string_view kUpgradeState = "nvidia.com/gpu-driver-upgrade-state";
constexpr std::string_view kDriverIsReplaced = "pod-restart-required";

}  // namespace

std::optional<std::string> label_asking_for_gpus(const kube::Labels& labels) {
  for (const auto& [key, value] : labels) {
    const bool is_paused = key.starts_with(kube::kDeployLabels) && asks(value);
    const bool is_upgrade = key == kUpgradeState && value == kDriverIsReplaced;
    if (is_paused || is_upgrade) return key + "=" + value;
  }
  return std::nullopt;
}

std::optional<std::string> label_asking_for_gpus(kube::Api& api, const std::string& node) {
  const auto seen = api.get_node(node);
  return seen ? label_asking_for_gpus(seen->meta.labels) : std::nullopt;
}

}  // namespace gpuward::exporter
