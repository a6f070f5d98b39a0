#include "remediator/model/pod_facts.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/kube/gpu_pods.h"
#include "core/kube/names.h"
#include "core/runtime/text.h"
#include "core/runtime/yaml_scalars.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

constexpr int kSystemCritical = 2'000'000'000;  // pkg/apis/scheduling SystemCriticalPriority

const kube::OwnerReference* controller_of(const kube::Pod& pod) {
  const auto found = std::ranges::find_if(
      pod.owners, [](const kube::OwnerReference& owner) { return owner.controller; });
  return found == pod.owners.end() ? nullptr : &*found;
}

// Follows the scheduler (k8s.io/api core/v1 Toleration.ToleratesTaint).
bool tolerates_one(const kube::Toleration& toleration, const kube::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return !toleration.key.empty() && toleration.value == taint.value;
}

// karpenter.sh/do-not-disrupt is "true" or a duration that counts from the pod's start.
std::optional<Protection> karpenter_protection(const kube::Pod& pod, kube::WallTime now) {
  constexpr const char* kKey = "karpenter.sh/do-not-disrupt";
  const std::string_view value = value_at(pod.meta.annotations, kKey);
  if (value.empty() || value == "false") return std::nullopt;
  const auto duration = parse_duration(value);
  if (!duration || !pod.started) return Protection{kKey, std::nullopt};
  const kube::WallTime until = *pod.started + *duration;
  if (until <= now) return std::nullopt;
  return Protection{kKey, until};
}

struct JobLabel {
  std::string_view kind;
  const char* label;
};
// The outer owner first: pods of a JobSet also carry the name of their Job.
constexpr std::array<JobLabel, 7> kJobLabels{{
    {"JobSet", "jobset.sigs.k8s.io/jobset-name"},
    {"RayCluster", "ray.io/cluster"},
    {"LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/name"},
    {"training job", "training.kubeflow.org/job-name"},
    {"Volcano job", "volcano.sh/job-name"},
    {"Job", "batch.kubernetes.io/job-name"},
    {"Job", "job-name"},
}};

struct Operator {
  std::string_view prefix, kind;
};
// training.kubeflow.org/operator-name: "pytorchjob-controller", "mpi-operator".
constexpr std::array<Operator, 6> kOperators{{{"pytorchjob", "PyTorchJob"},
                                              {"mpi", "MPIJob"},
                                              {"tfjob", "TFJob"},
                                              {"xgboostjob", "XGBoostJob"},
                                              {"paddlejob", "PaddleJob"},
                                              {"jaxjob", "JAXJob"}}};

std::string_view kind_of(const JobLabel& job, const kube::Labels& labels) {
  const auto name = value_at(labels, "training.kubeflow.org/operator-name");
  if (job.kind != "training job") return job.kind;
  const auto found = std::ranges::find_if(
      kOperators, [&](const Operator& known) { return name.starts_with(known.prefix); });
  return found == kOperators.end() ? job.kind : found->kind;
}

// Each replica of a LeaderWorkerSet restarts by itself.
std::string replica_of(const JobLabel& job, const kube::Labels& labels) {
  if (job.kind != "LeaderWorkerSet") return {};
  const auto index = value_at(labels, "leaderworkerset.sigs.k8s.io/group-index");
  return index.empty() ? std::string() : "-" + std::string(index);
}

}  // namespace

bool is_mirror_pod(const kube::Pod& pod) {
  const bool is_nodes = std::ranges::any_of(
      pod.owners, [](const kube::OwnerReference& owner) { return owner.kind == "Node"; });
  return is_nodes || pod.meta.annotations.contains("kubernetes.io/config.mirror");
}

bool is_unmanaged(const kube::Pod& pod) { return controller_of(pod) == nullptr; }

bool tolerates(const kube::Pod& pod, const std::vector<kube::Taint>& taints) {
  return std::ranges::all_of(taints, [&](const kube::Taint& taint) {
    return taint.effect == "PreferNoSchedule" ||
           std::ranges::any_of(pod.tolerations, [&](const kube::Toleration& toleration) {
             return tolerates_one(toleration, taint);
           });
  });
}

std::string owner_of(const kube::Pod& pod) {
  const kube::OwnerReference* const owner = controller_of(pod);
  return short_hash(pod.meta.ns + (owner == nullptr ? "/" + pod.meta.name : "=" + owner->uid));
}

bool matches_glob(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

std::optional<Protection> protection_of(const kube::Pod& pod, kube::WallTime now) {
  constexpr const char* kOurs = "gpuward.dev/do-not-drain";
  constexpr const char* kAutoscaler = "cluster-autoscaler.kubernetes.io/safe-to-evict";
  const std::string_view ours = value_at(pod.meta.annotations, kOurs);
  if (!ours.empty() && ours != "false") return Protection{kOurs, std::nullopt};
  const std::string_view safe = value_at(pod.meta.annotations, kAutoscaler);
  if (safe == "false" || safe == "on-completion") return Protection{kAutoscaler, std::nullopt};
  return karpenter_protection(pod, now);
}

std::string job_of(const kube::Pod& pod) {
  // A Job of gpuward's own (act/actions/job_template) does not count as lost work.
  if (pod.meta.labels.contains("gpuward.dev/step")) return {};
  for (const JobLabel& job : kJobLabels) {
    const std::string_view name = value_at(pod.meta.labels, job.label);
    if (name.empty()) continue;
    return std::string(kind_of(job, pod.meta.labels)) + " " + pod.meta.ns + "/" +
           std::string(name) + replica_of(job, pod.meta.labels);
  }
  // Volcano's group. An annotation may have any value, even one that looks like jobs of other
  // namespaces.
  const std::string_view group = value_at(pod.meta.annotations, "scheduling.k8s.io/group-name");
  const bool is_name = kube::validate_node_name(group).has_value();  // DNS names both
  return is_name ? "pod group " + pod.meta.ns + "/" + std::string(group) : std::string();
}

std::string_view job_label(std::string_view kind) {
  const bool is_kubeflows =
      std::ranges::find(kOperators, kind, &Operator::kind) != kOperators.end();
  const auto* const found = std::ranges::find(
      kJobLabels, is_kubeflows ? std::string_view("training job") : kind, &JobLabel::kind);
  return found == kJobLabels.end() ? std::string_view() : found->label;
}

DrainWave wave_of(const kube::Pod& pod) {
  if (pod.priority >= kSystemCritical || pod.priority_class.starts_with("system-"))
    return DrainWave::kCritical;
  return kube::uses_gpus(pod) || !job_of(pod).empty() ? DrainWave::kWorkload : DrainWave::kRest;
}

}  // namespace gpuward::remediator
