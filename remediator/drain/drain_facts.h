// The properties of one pod that matter to a drain, regardless of the settings: its owner, its
// resources, its protection from disruption, its job. Pure; used by drain_plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

// Run by the kubelet from a file: the API server only shows it.
[[nodiscard]] bool is_mirror_pod(const kube::Pod& pod);
// No controller would recreate it.
[[nodiscard]] bool is_unmanaged(const kube::Pod& pod);

// Whether the pod may be scheduled to a node with these taints. Taints of effect PreferNoSchedule
// keep none away.
[[nodiscard]] bool tolerates(const kube::Pod& pod, const std::vector<kube::Taint>& taints);
// A hash of the pod's namespace and of its controller's UID, or of its own name if it has none: ten
// digits. A tenant chooses both values: they may be long, or imitate those of another namespace.
[[nodiscard]] std::string owner_of(const kube::Pod& pod);

// Whether `name` matches `pattern` (with * and ?).
[[nodiscard]] bool matches_glob(const std::string& pattern, const std::string& name);

// An annotation by which the pod's owner asks not to be disrupted.
struct Protection {
  std::string annotation;
  std::optional<kube::WallTime> until;  // nullopt: for as long as it runs
};
// karpenter.sh/do-not-disrupt, cluster-autoscaler.kubernetes.io/safe-to-evict and
// gpuward.dev/do-not-drain; nullopt if there is none, or if its time is over. A value that cannot
// be parsed protects.
[[nodiscard]] std::optional<Protection> protection_of(const kube::Pod& pod, kube::WallTime now);

// The job that restarts as a whole when one of its pods goes: "JobSet default/train". Empty: none.
[[nodiscard]] std::string job_of(const kube::Pod& pod);
// The label by which job_of() finds the pods of a job of that kind ("JobSet"); its value is the
// job's name. Empty if there is none.
[[nodiscard]] std::string_view job_label(std::string_view kind);

// The order of eviction. A wave begins when no pod of an earlier wave is on its way any more: a
// blocked or protected pod delays no later wave (drain_round.cpp).
enum class DrainWave : std::uint8_t {
  kWorkload,  // uses a GPU or belongs to a job
  kRest,
  kCritical,  // the node's other pods depend on it
  kSelf,      // the remediator that drains
};
[[nodiscard]] DrainWave wave_of(const kube::Pod& pod);

}  // namespace gpuward::remediator
