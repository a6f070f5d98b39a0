// The Job controller and the kubelets of a test: they run the command of each Job's one container
// to its end, with its own environment, on this machine.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/process.h"
#include "tests/unit/remediator/cluster_hands.h"

namespace gpuward::remediator {

inline constexpr const char* kStageJobs = "/apis/batch/v1/namespaces/gpu-healthcheck/jobs";
inline constexpr const char* kStageJobPods = "/api/v1/namespaces/gpu-healthcheck/pods";

class JobKubelet {
 public:
  // `environment` is that of the image of all Jobs, such as a PATH. `hands` must outlive this
  // object.
  JobKubelet(ClusterHands& hands, std::map<std::string, std::string> environment)
      : hands_(hands), environment_(std::move(environment)) {}

  // Runs each Job that has not run yet, and writes its result to the cluster. The remediator may
  // delete a Job meanwhile.
  void turn() {
    const Json jobs = hands_.get(kStageJobs);
    for (const Json& job : jobs["items"]) {
      const std::string name = string_at(job["metadata"], "name");
      if (!ran_.insert(name).second) continue;
      try {
        run(job);
      } catch (const std::runtime_error&) {
        if (hands_.has(std::string(kStageJobs) + "/" + name)) throw;
      }
    }
  }
  // The commands, as the Jobs had them.
  [[nodiscard]] const std::vector<std::vector<std::string>>& commands() const { return commands_; }

 private:
  void run(const Json& job) {
    const Json& container = job["spec"]["template"]["spec"]["containers"][0];
    support::ProcessOptions options;
    options.argv = container["command"].get<std::vector<std::string>>();
    commands_.push_back(options.argv);
    options.env = environment_;
    for (const Json& one : member_at(container, "env"))
      options.env[string_at(one, "name")] = string_at(one, "value");
    options.argv.insert(options.argv.begin(), "/usr/bin/env");  // looks it up on the Job's own PATH
    const auto outcome = support::Process::run(std::move(options));
    if (!outcome) return end(job, 127, outcome.error().message);
    end(job, outcome->exit_code,
        outcome->exit_code == 0 ? "" : last_words(outcome->error_output + outcome->output));
  }

  // A kubelet takes the last 2 KiB of the container's log, which holds both streams.
  static std::string last_words(const std::string& log) {
    constexpr std::size_t kMostBytes = 2048;
    return log.substr(log.size() - std::min(log.size(), kMostBytes));
  }

  void end(const Json& job, int exit_code, const std::string& words) {
    const std::string name = string_at(job["metadata"], "name");
    Json pod = job["spec"]["template"];
    pod["metadata"]["name"] = name + "-pod";
    pod["metadata"]["labels"]["job-name"] = name;
    pod["metadata"]["ownerReferences"] = fakes::owned_by_job(job);
    hands_.create(kStageJobPods, pod);
    hands_.patch_status(
        std::string(kStageJobPods) + "/" + name + "-pod",
        fakes::ended_pod_status(pod["spec"]["containers"][0]["name"], exit_code, words));
    hands_.patch_status(std::string(kStageJobs) + "/" + name,
                        fakes::ended_job_status(exit_code == 0 ? "Complete" : "Failed"));
  }

  ClusterHands& hands_;
  std::map<std::string, std::string> environment_;
  std::set<std::string> ran_;
  std::vector<std::vector<std::string>> commands_;
};

}  // namespace gpuward::remediator
