// Jobs of every kind in a fake cluster, with pods that are older than a drain. Their controllers do
// as much as a restart needs: a suspended job loses its pods, another one gets those that it lacks.
// Used by the tests of the step restart-job.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/custom_definition.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/kube_objects.h"

namespace gpuward::remediator {

// The facts of the kind's own documentation, not of the table under test.
struct KindOfJob {
  std::string word, group, version, kind, plural, pod_label, suspend;

  friend void PrintTo(const KindOfJob& one, std::ostream* out) { *out << one.word; }
};

inline const KindOfJob kPlainJob = {
    "Job", "batch", "v1", "Job", "jobs", "batch.kubernetes.io/job-name", "/spec/suspend"};
inline const KindOfJob kJobSet = {"JobSet",       "jobset.x-k8s.io",
                                  "v1alpha2",     "JobSet",
                                  "jobsets",      "jobset.sigs.k8s.io/jobset-name",
                                  "/spec/suspend"};
inline const KindOfJob kTrainJob = {
    "TrainJob", "trainer.kubeflow.org", "v1alpha1", "TrainJob", "trainjobs", "", "/spec/suspend"};
inline const KindOfJob kVolcanoJob = {"Volcano job", "batch.volcano.sh",    "v1alpha1", "Job",
                                      "jobs",        "volcano.sh/job-name", ""};

inline KindOfJob kubeflow_job(const std::string& kind, const std::string& plural,
                              const std::string& version = "v1") {
  return {kind,
          "kubeflow.org",
          version,
          kind,
          plural,
          "training.kubeflow.org/job-name",
          "/spec/runPolicy/suspend"};
}

class TornJobs {
 public:
  explicit TornJobs(fakes::FakeKube& kube) : kube_(kube) {}

  // Adds a job with pods of the same age, and returns a name like "JobSet default/train". Defines
  // the kind in the API server.
  std::string add(const KindOfJob& kind, const std::string& name = "train", int pods = 3,
                  std::chrono::seconds age = std::chrono::hours(1)) {
    define(kind);
    Json job = {{"apiVersion", kind.group + "/" + kind.version},
                {"kind", kind.kind},
                {"metadata", {{"name", name}, {"namespace", "default"}}},
                {"spec", Json::object()}};
    if (kind.group == "batch") job["spec"]["template"] = fakes::pod("x", "")["spec"];
    kube_.create(collection(kind), job);
    kube_.backdate(path(kind, name), age);
    for (int i = 0; i < pods; ++i) add_pod(kind, name, age);
    return kind.word + " default/" + name;
  }
  void define(const KindOfJob& kind) {
    const std::string name = kind.plural + "." + kind.group;
    if (kind.group == "batch" || kube_.has(std::string(fakes::kDefinitions) + "/" + name)) return;
    kube_.create(fakes::kDefinitions, fakes::custom_definition({.group = kind.group,
                                                                .version = kind.version,
                                                                .kind = kind.kind,
                                                                .plural = kind.plural,
                                                                .namespaced = true}));
  }
  // Adds a pod and returns its name.
  std::string add_pod(const KindOfJob& kind, const std::string& job, std::chrono::seconds age) {
    const std::string name = job + "-" + std::to_string(++pods_made_);
    kube_.create(kPods, fakes::pod(name, "gpu-09", {{kind.pod_label, job}}));
    if (age.count() > 0) kube_.backdate(kPods + ("/" + name), age);
    return name;
  }
  [[nodiscard]] static std::string collection(const KindOfJob& kind) {
    return "/apis/" + kind.group + "/" + kind.version + "/namespaces/default/" + kind.plural;
  }
  [[nodiscard]] static std::string path(const KindOfJob& kind, const std::string& name = "train") {
    return collection(kind) + "/" + name;
  }
  Json get(const KindOfJob& kind, const std::string& name = "train") {
    return kube_.get(path(kind, name));
  }
  bool is_suspended(const KindOfJob& kind, const std::string& name = "train") {
    const Json job = get(kind, name);
    const Json::json_pointer field(kind.suspend);
    return job.contains(field) && job.at(field) == true;
  }
  std::string annotation(const KindOfJob& kind, const std::string& key,
                         const std::string& name = "train") {
    return fakes::annotation_of(get(kind, name), key);
  }
  std::vector<std::string> pods_of(const KindOfJob& kind, const std::string& job = "train") {
    std::vector<std::string> names;
    const Json pods = kube_.get(kPods);
    for (const Json& pod : pods["items"]) {
      if (fakes::label_of(pod, kind.pod_label) == job)
        names.push_back(string_at(pod["metadata"], "name"));
    }
    return names;
  }
  // Plays the next turn of the kind's controller.
  void play(const KindOfJob& kind, const std::string& job = "train", std::size_t wanted = 3) {
    const auto pods = pods_of(kind, job);
    if (is_suspended(kind, job)) {
      for (const std::string& pod : pods) kube_.remove(kPods + ("/" + pod));
    } else {
      for (std::size_t i = pods.size(); i < wanted; ++i) add_pod(kind, job, {});
    }
  }

 private:
  static constexpr const char* kPods = "/api/v1/namespaces/default/pods";
  fakes::FakeKube& kube_;
  int pods_made_ = 0;
};

}  // namespace gpuward::remediator
