// Decides how a drain treats each pod on a node, before anything is sent: the filters of `kubectl
// drain` in their order, then which pods may wait and which go together. Pure; time is a parameter.
// Used by drain_round and the drainer.
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
#include "remediator/drain/drain_facts.h"
#include "remediator/drain/drain_settings.h"

namespace gpuward::remediator {

enum class DrainAct : std::uint8_t {
  kEvict,
  kDelete,
  kWait,         // it may finish first
  kTerminating,  // on its way: the drain waits until it is gone
  kKeep,         // it came since, and is not evicted: the drain waits until the deadline
  kSkip,         // stays on the node
  kRefuse,       // one such pod, and no pod is evicted
};

// The number of pods that came after the drain began and were sent a removal, by owner (owner_of).
using EvictedAgain = std::map<std::string, int>;

// The node and the moment.
struct DrainScene {
  kube::WallTime now;
  std::chrono::milliseconds elapsed{0};  // since the start of the drain
  bool node_is_unreachable = false;
  std::string own_pod;  // "namespace/name" of the remediator that drains
  // A pod that was created later than this came after the drain began, as did one that was created
  // in the same second and may stay. nullopt: none did.
  std::optional<kube::WallTime> began = {};
  std::vector<kube::Taint> taints = {};  // of the node, with the cordon's
  const EvictedAgain* again = nullptr;   // null: none
  // The pods that `again` counts and this process knows, by UID, with their owners; null: none.
  const std::map<std::string, std::string>* counted = nullptr;
};

// Why a pod stays that came after the drain began.
inline constexpr std::string_view kToleratesReason =
    "that were created after the drain began and tolerate the node's taints";
// How many pods of an owner that came after the drain began are evicted: any others stay, and are
// named. If pods of a job come at once, they go together even if they are more, but only the first
// time that pods of their owner come.
inline constexpr int kMostEvictedAgain = 3;
// How many owners are counted: pods of others are not evicted again.
inline constexpr std::size_t kMostOwnersCounted = 100;

struct PlannedPod {
  std::string ns, name, uid;
  DrainAct act = DrainAct::kEvict;
  std::string reason = {};  // in words that stay the same while nothing changes; not for kEvict
  DrainWave wave = DrainWave::kRest;
  std::string job = {};       // from job_of()
  bool is_protected = false;  // it, or another pod of its job, asks not to be disrupted
  int own_grace_seconds = 30;
  std::optional<kube::WallTime> ends_at = {};  // for kTerminating: when its grace is over
  bool is_newcomer = false;                    // it came after the drain began
  bool has_ended = false;                      // no process of it runs
  std::string owner = {};                      // of a newcomer: owner_of()

  [[nodiscard]] std::string full_name() const { return ns + "/" + name; }
  [[nodiscard]] bool is_left() const { return act != DrainAct::kSkip && act != DrainAct::kRefuse; }
};

// A job that loses pods here, and so restarts.
struct AffectedJob {
  std::string name;  // "JobSet default/train"
  std::size_t pods = 0;
};

struct DrainPlan {
  std::vector<PlannedPod> pods;  // in the order of eviction; pods of a job are adjacent
  std::vector<AffectedJob> jobs;
};

// Whether the pod is neither removed nor left behind at the deadline.
[[nodiscard]] bool is_spared(const PlannedPod& pod, const DrainSettings& settings);

[[nodiscard]] DrainPlan plan_drain(const std::vector<kube::Pod>& pods,
                                   const DrainSettings& settings, const DrainScene& scene);

}  // namespace gpuward::remediator
