// The outcome of one check of a step, and the facts that steps keep in their records. The decision,
// the steps and the machines' history read these facts. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "remediator/model/remediation.h"
#include "remediator/model/step_call.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {

struct StepProgress {
  // kIntended: nothing was done, and begin() can be called later.
  StepResult result = StepResult::kRunning;
  std::string message;  // Written to the status, so it must stay the same while nothing changes.
  Facts facts;          // Replace the facts in the record.
  std::optional<std::chrono::milliseconds> look_again;
  std::vector<std::string> news = {};  // Reported once, in the history and as an Event.
  // False if the step waits for other nodes or programs. Its clock then stops until the next check.
  bool runs_clock = true;
};

// The fact of a step on the machine: the spec.providerID of the machine that the step was intended
// for.
inline const std::string kInstanceFact = "instanceID";

// The fact of a reboot: the boot ID of the node when the reboot was intended.
inline const std::string kBootBeforeFact = "bootIDBefore";

// The fact of a drain: the jobs that lost pods in the drain, as "JobSet default/train", separated
// by kBetweenJobs.
inline const std::string kJobsFact = "jobs";
inline constexpr std::string_view kBetweenJobs = ", ";

// Returns the jobs that the Remediation's drain has recorded; empty if no job lost a pod.
[[nodiscard]] inline std::vector<std::string> jobs_drained(const Remediation& remediation) {
  std::vector<std::string> jobs;
  const StepRecord* drain = remediation.status.find(Step::kDrain);
  if (drain == nullptr || !drain->facts.contains(kJobsFact)) return jobs;
  std::string_view rest = drain->facts.at(kJobsFact);
  while (!rest.empty()) {
    const auto end = rest.find(kBetweenJobs);
    jobs.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + kBetweenJobs.size());
  }
  return jobs;
}

// The fact of a step with one or more Jobs: the namespace of the Jobs.
inline const std::string kJobNamespaceFact = "jobNamespace";

// The fact of a reboot by a Job that may have run: the time until which the machine may restart.
// The waiting process on the node stops before that time (exporter/commands/node_reboot_command.h).
inline const std::string kRestartsBeforeFact = "restartsBefore";
inline constexpr std::chrono::minutes kRestartsWithin{15};

// Returns whether a Job does the step. For a reboot the recorded intent decides.
[[nodiscard]] inline bool is_by_job(const StepRecord& record) {
  return is_job(record.step) || record.facts.contains(kJobNamespaceFact);
}

// The fact of a Job: its "NAMESPACE/NAME", once the Job is created.
inline const std::string kJobFact = "job";

// The fact of a Job with an ended container: the exit code of the container.
inline const std::string kExitCodeFact = "exitCode";

// The fact of a reset: the operands of the GPU operator that the reset pauses
// (model/gpu_operands.h).
inline const std::string kOperandsFact = "pausedOperands";

// The facts of a verification: the time since which the node is healthy without a break, the
// milliseconds that the step had run at that time, and the boot ID at that time. kSoakedFact says
// that the soak time is over and that only the machine's history keeps the step from its end.
inline const std::string kHealthySinceFact = "healthySince";
inline const std::string kHealthyFromFact = "healthyFrom";
inline const std::string kVerifiedBootFact = "verifiedBootID";
inline const std::string kSoakedFact = "soaked";

// Returns whether the verification is done in the boot `boot_id`. A verification says nothing about
// another boot.
[[nodiscard]] inline bool is_verified_in(const StepRecord& record, const std::string& boot_id) {
  return record.result == StepResult::kDone && !boot_id.empty() &&
         value_at(record.facts, kVerifiedBootFact) == boot_id;
}

}  // namespace gpuward::remediator
