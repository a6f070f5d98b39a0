#include "remediator/model/job_kinds.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr const char* kSuspend = "/spec/suspend";
constexpr const char* kRunPolicy = "/spec/runPolicy/suspend";
constexpr RestartBy kSuspension = RestartBy::kSuspension;

// Sources of the facts:
//
// Job: kubernetes/kubernetes, staging/src/k8s.io/api/batch/v1/types.go (JobSpec.suspend) and
//   KEP 2232: active pods are deleted, which raises no count of failures; the pods that have
//   succeeded stay counted; startTime is reset.
// JobSet: kubernetes-sigs/jobset 08dfbdfd, pkg/controllers/jobset_controller.go (suspendJobs,
//   resumeJobsIfNecessary): suspends and resumes its Jobs; status.restarts stays.
// TrainJob: kubeflow/trainer, pkg/apis/trainer/v1alpha1/trainjob_types.go (spec.suspend). It owns
//   a JobSet, and would overwrite the field `suspend` of that JobSet.
// PyTorchJob and the other kinds of the training operator: kubeflow/training-operator,
//   pkg/controller.v1/common/job.go (ReconcileJobs): deletes all pods of a suspended job and
//   creates them again when it is resumed.
// MPIJob: the same in v1; kubeflow/mpi-operator caa3c47f, pkg/controller/mpi_job_controller.go
//   (syncHandler) in v2beta1: suspends the launcher's Job and deletes the workers.
// Volcano job: volcano-sh/volcano, pkg/controllers/job/job_controller_handler.go: a Command is
//   deleted before it is carried out, "not more than once"; pkg/controllers/job/state/running.go
//   and restarting.go: all pods are killed, and the restart counts against spec.maxRetry.
// LeaderWorkerSet: kubernetes-sigs/lws 060ab4da, api/leaderworkerset/v1/leaderworkerset_types.go:
//   RecreateGroupOnPodRestart is the default; with None the group is not restarted.
constexpr std::array<JobKind, 11> kKinds{{
    {"Job", kSuspension, "batch", "Job", "jobs", {"v1"}, kSuspend},
    {"JobSet", kSuspension, "jobset.x-k8s.io", "JobSet", "jobsets", {"v1alpha2"}, kSuspend},
    {"TrainJob",
     kSuspension,
     "trainer.kubeflow.org",
     "TrainJob",
     "trainjobs",
     {"v1alpha1"},
     kSuspend},
    {"PyTorchJob", kSuspension, kKubeflow, "PyTorchJob", "pytorchjobs", {"v1"}, kRunPolicy},
    {"MPIJob", kSuspension, kKubeflow, "MPIJob", "mpijobs", {"v2beta1", "v1"}, kRunPolicy},
    {"TFJob", kSuspension, kKubeflow, "TFJob", "tfjobs", {"v1"}, kRunPolicy},
    {"XGBoostJob", kSuspension, kKubeflow, "XGBoostJob", "xgboostjobs", {"v1"}, kRunPolicy},
    {"PaddleJob", kSuspension, kKubeflow, "PaddleJob", "paddlejobs", {"v1"}, kRunPolicy},
    {"JAXJob", kSuspension, kKubeflow, "JAXJob", "jaxjobs", {"v1"}, kRunPolicy},
    {"Volcano job", RestartBy::kCommand, "batch.volcano.sh", "Job", "jobs", {"v1alpha1"}},
    {"LeaderWorkerSet",
     RestartBy::kItself,
     "leaderworkerset.x-k8s.io",
     "LeaderWorkerSet",
     "leaderworkersets",
     {"v1"}},
}};

template <typename Matches>
const JobKind* find(Matches matches) {
  const auto* const found = std::ranges::find_if(kKinds, matches);
  return found == kKinds.end() ? nullptr : found;
}

}  // namespace

std::optional<TornJob> parse_torn_job(std::string_view text) {
  const auto space = text.rfind(' ');
  if (space == std::string_view::npos || space == 0) return std::nullopt;
  const std::string_view path = text.substr(space + 1);
  const auto slash = path.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == path.size())
    return std::nullopt;
  return TornJob{.word = std::string(text.substr(0, space)),
                 .ns = std::string(path.substr(0, slash)),
                 .name = std::string(path.substr(slash + 1))};
}

const JobKind* find_job_kind(std::string_view word) {
  return find([word](const JobKind& kind) { return kind.word == word; });
}

const JobKind* find_job_kind(std::string_view group, std::string_view kind_name) {
  return find([&](const JobKind& kind) { return kind.group == group && kind.kind == kind_name; });
}

}  // namespace gpuward::remediator
