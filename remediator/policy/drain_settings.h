// How a node is drained: which pods are evicted, how long the drain waits for them, and how it
// treats pods that stay. Plain values, read from the YAML of the policy; used by the plan and the
// rounds of a drain.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/yaml.h"

namespace gpuward::remediator {

enum class DrainedPods : std::uint8_t {
  kAll,
  kGpu,  // Pods that request a GPU, before a reset.
};

// How the drain treats pods that are left at the deadline.
enum class OnDeadline : std::uint8_t {
  kHold,  // The drain has failed, and gpuward notifies an operator.
  // The drain deletes the pods with their grace period, in spite of their disruption budgets.
  kDelete,
  kProceed,  // The drain counts as done.
};

enum class NamespaceMode : std::uint8_t {
  kEvict,
  kWait,    // The pods may finish until `up_to`; then the drain evicts them.
  kDelete,  // The pods may finish until `up_to`; then the drain deletes them.
};

struct NamespaceRule {
  std::string name;  // Pattern with * and ?.
  NamespaceMode mode = NamespaceMode::kEvict;
  std::chrono::milliseconds up_to{0};  // Time since the start of the drain.
};

// How the drain treats pods of a node with a kubelet that does not answer. No kubelet confirms the
// end of such pods.
enum class UnreachablePods : std::uint8_t {
  kWait,    // The drain waits until the deadline.
  kForget,  // The drain waits only for the grace period.
};

struct DrainSettings {
  DrainedPods pods = DrainedPods::kAll;
  std::chrono::milliseconds deadline = std::chrono::minutes(30);
  OnDeadline on_deadline = OnDeadline::kHold;
  std::optional<std::chrono::seconds> grace_period;
  // Allowed by default, unlike in kubectl, because nearly every training pod has its /dev/shm in an
  // emptyDir.
  bool evicts_empty_dir = true;
  // Whether to evict pods that no controller would recreate.
  bool evicts_unmanaged = false;
  std::vector<NamespaceRule> namespaces;  // The first rule that matches applies.
  std::vector<std::string> skipped_namespaces;
  // Patterns from `excluded` of the policy, with * and ?. Pods in these namespaces are never
  // evicted, and the drain fails.
  std::vector<std::string> excluded_namespaces = {};
  // If true, pods that must not be disrupted are treated like other pods at the deadline. If false,
  // they hold the drain, and no pod is deleted or left behind because of them.
  bool overrides_do_not_disrupt = false;
  UnreachablePods unreachable = UnreachablePods::kWait;
};

// The rate of evictions over all drains together.
struct EvictionRate {
  double per_second = 50;
  int burst = 50;
  int most_in_flight = 64;
};

// Reads `drain:` of a policy or of one of its steps. Missing keys keep the values in `settings`.
[[nodiscard]] DrainSettings read_drain_settings(const YamlMap& drain, DrainSettings settings = {});
// Reads `evictions:` of a policy.
[[nodiscard]] EvictionRate read_eviction_rate(const YamlMap& evictions);

}  // namespace gpuward::remediator
