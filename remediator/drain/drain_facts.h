// What one pod is to a drain, whatever the settings say: whose it is, what it uses, what it asks to
// be spared, with whom it restarts. Pure; used by drain_plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kube/objects.h"

namespace gpuward::remediator {

// Run by the kubelet from a file: the API server only shows it.
[[nodiscard]] bool is_mirror_pod(const kube::Pod& pod);
// No controller would make it again.
[[nodiscard]] bool is_unmanaged(const kube::Pod& pod);

// Whether the pod may be scheduled to a node with these taints. Taints of effect PreferNoSchedule
// keep none away.
[[nodiscard]] bool tolerates(const kube::Pod& pod, const std::vector<kube::Taint>& taints);
// Hash of its namespace and of its controller's UID, or of its name if it has none: ten digits. A
// tenant chooses both: they may be long, and may be those of another namespace.
[[nodiscard]] std::string owner_of(const kube::Pod& pod);

// Whether `name` is what `pattern` (with * and ?) stands for.
[[nodiscard]] bool matches_glob(const std::string& pattern, const std::string& name);

// An annotation by which the pod's owner asks not to be disrupted.
struct Protection {
  std::string annotation;
  std::optional<kube::WallTime> until;  // nullopt: for as long as it runs
};
// karpenter.sh/do-not-disrupt, cluster-autoscaler.kubernetes.io/safe-to-evict and
// gpuward.dev/do-not-drain; nullopt where there is none, or its time is over. What cannot be read
// protects.
[[nodiscard]] std::optional<Protection> protection_of(const kube::Pod& pod, kube::WallTime now);

// The job that restarts as a whole when one of its pods goes: "JobSet default/train". Empty: none.
[[nodiscard]] std::string job_of(const kube::Pod& pod);
// The label by which job_of() knows the pods of such a job ("JobSet"); its value is the job's name.
// Empty where there is none.
[[nodiscard]] std::string_view job_label(std::string_view kind);

// Who goes first. A wave begins when nothing of the earlier ones is on its way any more: what is
// blocked, or must be spared, holds up no later wave (drain_round.cpp).
enum class DrainWave : std::uint8_t {
  kWorkload,  // uses a GPU or belongs to a job
  kRest,
  kCritical,  // what the node's other pods stand on
  kSelf,      // the remediator that drains
};
[[nodiscard]] DrainWave wave_of(const kube::Pod& pod);

}  // namespace gpuward::remediator
