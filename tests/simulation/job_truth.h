// The Jobs of the steps collect-evidence, gpu-reset, reboot and quarantine-job as they really are,
// in the order in which they were made, because their names differ in every replay. Plain values.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/model/step.h"

namespace gpuward::remediator::simulation {

struct JobTruth {
  std::string name, uid, remediation, remediation_uid;
  Step step = Step::kGpuReset;
  std::string node, node_uid, instance;  // the node's name and UID, and its spec.providerID
  std::string boot;                      // of a restart: the boot in which it was requested
  Clock::Steady deadline;                // the Job controller ends it then
  bool is_over = false;                  // it has ended, or it is deleted
  bool is_cleared = false;               // its pod and its Job are gone
  bool is_stuck = false;                 // its pod never starts, or its container never ends
  std::optional<std::string> runs_in;    // the ID of the boot that its container was started in
  bool has_acted = false;                // its command started and changed the node
  bool has_failed_check = false;
  bool came_late =
      false;  // its owner was closed or its intent withdrawn while its request was on its way
};

class JobTruths {
 public:
  void add(JobTruth job) { jobs_.push_back(std::move(job)); }
  [[nodiscard]] std::vector<JobTruth>& all() { return jobs_; }
  [[nodiscard]] const std::vector<JobTruth>& all() const { return jobs_; }
  // The Job of that name was deleted.
  void end(const std::string& name) {
    for (JobTruth& job : jobs_) job.is_over |= job.name == name;
  }
  // The last Job of that step of the Remediation; null if there was none.
  [[nodiscard]] const JobTruth* last(const std::string& remediation, Step step) const {
    const JobTruth* last = nullptr;
    for (const JobTruth& job : jobs_) {
      if (job.remediation == remediation && job.step == step) last = &job;
    }
    return last;
  }

 private:
  std::vector<JobTruth> jobs_;
};

}  // namespace gpuward::remediator::simulation
