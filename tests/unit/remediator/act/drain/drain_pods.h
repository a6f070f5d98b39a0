// Pods and plans for the tests of act/drain/: a running pod of a ReplicaSet, and functions that
// change it.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "remediator/act/drain/drain_plan.h"
#include "remediator/act/drain/drain_round.h"

namespace gpuward::remediator {

inline constexpr kube::WallTime kDrainStart =
    std::chrono::sys_days{std::chrono::year{2026} / 1 / 2};

inline kube::Pod replica(const std::string& name, const std::string& ns = "default") {
  kube::Pod pod;
  pod.meta.name = name;
  pod.meta.ns = ns;
  pod.meta.uid = "uid-" + name;
  pod.node_name = "gpu-01";
  pod.phase = "Running";
  pod.owners = {{"apps/v1", "ReplicaSet", "rs", "rs-uid", true}};
  return pod;
}

inline kube::Pod gpu_replica(const std::string& name) {
  kube::Pod pod = replica(name);
  pod.resources = {"cpu", "nvidia.com/gpu"};
  return pod;
}

inline kube::Pod owned_by(kube::Pod pod, const std::string& api, const std::string& kind) {
  pod.owners = {{api, kind, "owner", "owner-uid", true}};
  return pod;
}

inline kube::Pod naked(const std::string& name) {
  kube::Pod pod = replica(name);
  pod.owners.clear();
  return pod;
}

inline kube::Pod with_phase(kube::Pod pod, const std::string& phase) {
  pod.phase = phase;
  return pod;
}

inline kube::Pod annotated(kube::Pod pod, const std::string& key, const std::string& value) {
  pod.meta.annotations[key] = value;
  return pod;
}

inline kube::Pod labelled(kube::Pod pod, const std::string& key, const std::string& value) {
  pod.meta.labels[key] = value;
  return pod;
}

// The pod's grace period ends `in` after the start of the drain.
inline kube::Pod terminating(kube::Pod pod, std::chrono::seconds in) {
  pod.meta.deleting = true;
  pod.meta.ends_at = kDrainStart + in;
  return pod;
}

inline DrainScene scene_at(std::chrono::milliseconds elapsed) {
  return {kDrainStart + elapsed, elapsed, false, ""};
}

inline const PlannedPod& planned(const DrainPlan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.pods, name, &PlannedPod::name);
  EXPECT_NE(found, plan.pods.end()) << name;
  return *found;
}

}  // namespace gpuward::remediator
