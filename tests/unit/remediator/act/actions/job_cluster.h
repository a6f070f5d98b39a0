// A fake API server with the Jobs of steps. The test plays the Job controller and the kubelets.
// Base of the tests of the steps that are Jobs.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "remediator/policy/current_policy.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {

class JobCluster : public ::testing::Test {
 protected:
  JobCluster() {
    kube_.create("/api/v1/namespaces", Json{{"apiVersion", "v1"},
                                            {"kind", "Namespace"},
                                            {"metadata", {{"name", "gpu-healthcheck"}}}});
  }

  static std::string name_of(const Json& job) { return string_at(job["metadata"], "name"); }
  static std::string node_of(const Json& job) {
    return string_at(job["spec"]["template"]["spec"], "nodeName");
  }
  std::size_t made() { return kube_.requests("POST", kJobs).size(); }

  void add_pod(const Json& job, const Json& status) {
    const std::string name = name_of(job);
    Json pod = fakes::pod(name + "-pod", node_of(job), {{"job-name", name}});
    pod["metadata"]["ownerReferences"] = fakes::owned_by_job(job);
    kube_.create(kPods, pod);
    kube_.patch_status(std::string(kPods) + "/" + name + "-pod", {{"status", status}});
  }
  void mark_ended(const Json& job, const char* condition, const char* reason = "") {
    kube_.patch_status(std::string(kJobs) + "/" + name_of(job),
                       fakes::ended_job_status(condition, reason));
  }
  // Lets the container of the Job's pod exit, which ends the Job.
  void exit_job(const Json& job, int code, const std::string& words,
                const std::string& reason = "Error") {
    add_pod(job, fakes::ended_pod_status("c", code, words, reason)["status"]);
    mark_ended(job, code == 0 ? "Complete" : "Failed", code == 0 ? "" : "BackoffLimitExceeded");
  }

  static constexpr const char* kJobs = "/apis/batch/v1/namespaces/gpu-healthcheck/jobs";
  static constexpr const char* kPods = "/api/v1/namespaces/gpu-healthcheck/pods";
  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube_{clock_};
  fakes::InProcessClient http_{kube_};
  NoCredentials credentials_;
  kube::Api api_{one_try(), http_, credentials_, clock_};
  CurrentPolicy policy_{Policy{}};
  Status allowed_;
};

}  // namespace gpuward::remediator
