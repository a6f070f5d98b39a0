// How a node is drained: which pods are evicted, how long the drain waits for them, and what
// happens to those that do not go. Plain values, read from the YAML of the policy; used by the plan
// and the rounds of a drain.
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
  kGpu,  // those that request a GPU, before a reset
};

// How the drain treats pods that are still there at the deadline.
enum class OnDeadline : std::uint8_t {
  kHold,     // the drain has failed; an operator is notified
  kDelete,   // they are deleted with their grace, in spite of their disruption budgets
  kProceed,  // the drain counts as done
};

enum class NamespaceMode : std::uint8_t {
  kEvict,
  kWait,    // they may finish until `up_to`, and are then evicted
  kDelete,  // they may finish until `up_to`, and are then deleted
};

struct NamespaceRule {
  std::string name;  // with * and ?
  NamespaceMode mode = NamespaceMode::kEvict;
  std::chrono::milliseconds up_to{0};  // since the start of the drain
};

// Pods of a node whose kubelet does not answer: their end is never confirmed.
enum class UnreachablePods : std::uint8_t {
  kWait,    // until the deadline
  kForget,  // not waited for once their grace is over
};

struct DrainSettings {
  DrainedPods pods = DrainedPods::kAll;
  std::chrono::milliseconds deadline = std::chrono::minutes(30);
  OnDeadline on_deadline = OnDeadline::kHold;
  std::optional<std::chrono::seconds> grace_period;
  // Nearly every training pod has its /dev/shm in an emptyDir: refusing them, as kubectl does by
  // default, would hold nearly every GPU node.
  bool evicts_empty_dir = true;
  bool evicts_unmanaged = false;          // pods that no controller would recreate
  std::vector<NamespaceRule> namespaces;  // the first that matches
  std::vector<std::string> skipped_namespaces;
  // From `excluded` of the policy, with * and ?: pods in them are never evicted, and the drain
  // fails.
  std::vector<std::string> excluded_namespaces = {};
  // Pods that must not be disrupted hold the drain, and at the deadline no pod is deleted or left
  // behind because of them. If this is set, they are then treated like other pods.
  bool overrides_do_not_disrupt = false;
  UnreachablePods unreachable = UnreachablePods::kWait;
};

// Over all drains together.
struct EvictionRate {
  double per_second = 50;
  int burst = 50;
  int most_in_flight = 64;
};

// `drain:` of a policy or of one of its steps; absent keys keep the values in `settings`.
[[nodiscard]] DrainSettings read_drain_settings(const YamlMap& drain, DrainSettings settings = {});
// `evictions:` of a policy.
[[nodiscard]] EvictionRate read_eviction_rate(const YamlMap& evictions);

}  // namespace gpuward::remediator
