// Decides how a drain treats each pod on a node, before any request is sent. It applies the filters
// of `kubectl drain` in their order, then finds pods that may wait and pods that go together. Pure;
// time is a parameter. Used by drain_round and the drainer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "remediator/model/pod_facts.h"
#include "remediator/policy/drain_settings.h"

namespace gpuward::remediator {

enum class DrainAct : std::uint8_t {
  kEvict,
  kDelete,
  kWait,         // The pod may finish first.
  kTerminating,  // The pod is terminating, and the drain waits until it is gone.
  // The pod came after the drain began and is not evicted; the drain waits until the deadline.
  kKeep,
  kSkip,    // The pod stays on the node.
  kRefuse,  // The pod must not be evicted; with one such pod, no pod is evicted.
};

// For each owner (owner_of), the number of removed pods that came after the drain began.
using EvictedAgain = std::map<std::string, int>;

// The state of the node at the moment of the plan.
struct DrainScene {
  kube::WallTime now;
  std::chrono::milliseconds elapsed{0};  // Time since the start of the drain.
  bool node_is_unreachable = false;
  std::string own_pod;  // "namespace/name" of the remediator that drains.
  // A pod that was created later than this came after the drain began. A pod of the same second
  // counts too if it may stay. nullopt: no pod came later.
  std::optional<kube::WallTime> began = {};
  std::vector<kube::Taint> taints = {};  // Taints of the node, including the taint of the cordon.
  const EvictedAgain* again = nullptr;   // Null: no evictions are counted.
  // Owner of each pod that `again` counts and this process knows, by UID; null: none.
  const std::map<std::string, std::string>* counted = nullptr;
};

// The reason why a pod that came after the drain began stays.
inline constexpr std::string_view kToleratesReason =
    "that were created after the drain began and tolerate the node's taints";
// Limit for each owner's evicted pods that came after the drain began. Further pods stay, and the
// summary names them. Pods of a job that come together go together even above the limit, but only
// the first time for their owner.
inline constexpr int kMostEvictedAgain = 3;
// Limit for the counted owners. Pods of further owners are not evicted again.
inline constexpr std::size_t kMostOwnersCounted = 100;

struct PlannedPod {
  std::string ns, name, uid;
  DrainAct act = DrainAct::kEvict;
  std::string reason = {};  // The same text while nothing changes; unused for kEvict.
  DrainWave wave = DrainWave::kRest;
  std::string job = {};       // The result of job_of().
  bool is_protected = false;  // The pod, or another pod of its job, asks not to be disrupted.
  int own_grace_seconds = 30;
  std::optional<kube::WallTime> ends_at = {};  // For kTerminating: the end of its grace period.
  bool is_newcomer = false;                    // The pod came after the drain began.
  bool has_ended = false;                      // No process of the pod runs.
  std::string owner = {};                      // For a newcomer: the result of owner_of().

  [[nodiscard]] std::string full_name() const { return ns + "/" + name; }
  [[nodiscard]] bool is_left() const { return act != DrainAct::kSkip && act != DrainAct::kRefuse; }
};

// A job that loses pods on this node, and so restarts.
struct AffectedJob {
  std::string name;  // "JobSet default/train"
  std::size_t pods = 0;
};

struct DrainPlan {
  std::vector<PlannedPod> pods;  // In the order of eviction; pods of a job are adjacent.
  std::vector<AffectedJob> jobs;
};

// Returns whether the pod is neither removed nor left behind at the deadline.
[[nodiscard]] bool is_spared(const PlannedPod& pod, const DrainSettings& settings);

[[nodiscard]] DrainPlan plan_drain(const std::vector<kube::Pod>& pods,
                                   const DrainSettings& settings, const DrainScene& scene);

}  // namespace gpuward::remediator
