// The properties of one pod that matter to a drain under any settings: its owner, its resources,
// its protection from disruption, its job. Pure; used by drain_plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

// Returns whether the kubelet runs the pod from a file. The API server only shows such a pod.
[[nodiscard]] bool is_mirror_pod(const kube::Pod& pod);
// Returns whether no controller would recreate the pod.
[[nodiscard]] bool is_unmanaged(const kube::Pod& pod);

// Returns whether the pod may be scheduled to a node with these taints. Taints of effect
// PreferNoSchedule are ignored.
[[nodiscard]] bool tolerates(const kube::Pod& pod, const std::vector<kube::Taint>& taints);
// Returns ten digits: a hash of the pod's namespace and of its controller's UID, or of its own name
// if it has no controller. The hash is needed because a tenant chooses both values, which may be
// long or imitate another namespace.
[[nodiscard]] std::string owner_of(const kube::Pod& pod);

// Returns whether `name` matches `pattern` (with * and ?).
[[nodiscard]] bool matches_glob(const std::string& pattern, const std::string& name);

// An annotation by which the pod's owner asks not to be disrupted.
struct Protection {
  std::string annotation;
  std::optional<kube::WallTime> until;  // nullopt: as long as the pod runs.
};
// Reads karpenter.sh/do-not-disrupt, cluster-autoscaler.kubernetes.io/safe-to-evict and
// gpuward.dev/do-not-drain. Returns nullopt if there is no such annotation, or if its time is over.
// A value that cannot be parsed protects the pod.
[[nodiscard]] std::optional<Protection> protection_of(const kube::Pod& pod, kube::WallTime now);

// Returns the job that restarts as a whole when it loses one of its pods, for example "JobSet
// default/train"; empty if there is none.
[[nodiscard]] std::string job_of(const kube::Pod& pod);
// Returns the label by which job_of() finds the pods of a job of that kind ("JobSet"). The value of
// the label is the job's name. Empty if there is no such label.
[[nodiscard]] std::string_view job_label(std::string_view kind);

// The order of eviction. A wave begins when no pod of an earlier wave is terminating any more. A
// blocked or protected pod delays no later wave (drain_round.cpp).
enum class DrainWave : std::uint8_t {
  kWorkload,  // A pod that uses a GPU or belongs to a job.
  kRest,
  kCritical,  // A pod that the node's other pods depend on.
  kSelf,      // The remediator that drains the node.
};
[[nodiscard]] DrainWave wave_of(const kube::Pod& pod);

}  // namespace gpuward::remediator
