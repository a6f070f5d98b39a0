// What a drain wants of each pod on a node, decided before anything is sent: the filters of
// `kubectl drain` in their order, then who may wait and who goes together. Pure; time is a
// parameter. Used by drain_round and the drainer.
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
  kTerminating,  // on its way: waited for until it is gone
  kKeep,         // it came since, and is not asked to go: waited for until the deadline
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
  // A pod that was made later than this came after the drain began, as does one that was made in
  // the same second and may stay. nullopt: none did.
  std::optional<kube::WallTime> began = {};
  std::vector<kube::Taint> taints = {};  // of the node, with the cordon's
  const EvictedAgain* again = nullptr;   // null: none
  // The pods that `again` counts and this process knows, by UID, with their owners; null: none.
  const std::map<std::string, std::string>* counted = nullptr;
};

// Why a pod stays that came after the drain began.
inline constexpr std::string_view kToleratesReason =
    "that were created after the drain began and tolerate the node's taints";
// How many pods of an owner that came after the drain began are evicted: more are left, and named.
// Pods of a job that come at once go together, also if they are more, the first time that pods of
// their owner come.
inline constexpr int kMostEvictedAgain = 3;
// How many owners are counted: pods of others are not evicted again.
inline constexpr std::size_t kMostOwnersCounted = 100;

struct PlannedPod {
  std::string ns, name, uid;
  DrainAct act = DrainAct::kEvict;
  std::string reason = {};  // in words that stay the same while nothing changes; not for kEvict
  DrainWave wave = DrainWave::kRest;
  std::string job = {};       // of job_of()
  bool is_protected = false;  // its owner, or that of its job's other pods, asks to be spared
  int own_grace_seconds = 30;
  std::optional<kube::WallTime> ends_at = {};  // of kTerminating: when its grace is over
  bool is_newcomer = false;                    // it came after the drain began
  bool has_ended = false;                      // nothing of it runs
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
  std::vector<PlannedPod> pods;  // in the order in which they go; pods of a job beside each other
  std::vector<AffectedJob> jobs;
};

// Not even the deadline takes the pod, or lets the plan continue without it.
[[nodiscard]] bool is_spared(const PlannedPod& pod, const DrainSettings& settings);

[[nodiscard]] DrainPlan plan_drain(const std::vector<kube::Pod>& pods,
                                   const DrainSettings& settings, const DrainScene& scene);

}  // namespace gpuward::remediator
