// Restarts jobs that have lost pods to a drain, each as a whole: reads a job and its pods, decides
// by job_move.h, and carries that out. It has no state in memory: its progress is on the job itself
// and in the step's record. Used by the step restart-job.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "remediator/act/restart/job_move.h"

namespace gpuward::remediator {

struct JobProgress {
  std::string known;  // For the step's record: the progress or the outcome.
  std::string words;  // The progress or the outcome, for people.
  bool is_settled = false;
  bool failed = false;
};

// Whether the next advance() changes the job. The record must have `known` before that.
[[nodiscard]] bool is_intended(std::string_view known);
// Whether `known` is the outcome of a job.
[[nodiscard]] bool is_settled(std::string_view known);
[[nodiscard]] bool has_failed(std::string_view known);

class JobRestarter {
 public:
  explicit JobRestarter(kube::Api& api) : api_(api) {}

  // Reads the job once and makes at most one change, right after a call of `permit`. If the result
  // is an intent, the caller must record it before the next call.
  [[nodiscard]] JobProgress advance(const std::string& job, const std::string& known,
                                    const RestartClaim& claim, const Permit& permit);
  // Resumes the job if that Remediation has suspended it, in any other state of the job. After an
  // error the job may still be suspended.
  [[nodiscard]] Status give_back(const std::string& job, const std::string& known,
                                 const std::string& mark, const Permit& permit);

 private:
  struct Found;
  struct Target;
  [[nodiscard]] Result<Found> find(const JobKind& kind, const TornJob& torn);
  [[nodiscard]] Result<Found> find_owning(Found found);
  [[nodiscard]] Result<Found> find_target(const TornJob& torn, const std::string& known);
  [[nodiscard]] static std::string known_of(std::string_view how, const Found& found);
  [[nodiscard]] static JobProgress refused_or_waits(const Target& target, const Error& why);
  [[nodiscard]] static JobProgress intend(const Target& target, const Permit& permit);
  [[nodiscard]] JobProgress carry_out(const Target& target, const JobMove& move,
                                      const Permit& permit);
  [[nodiscard]] JobProgress without_pods(const Target& target, const Error& why,
                                         const Permit& permit);
  [[nodiscard]] JobProgress suspend(const Target& target, const Permit& permit);
  [[nodiscard]] JobProgress ask(const Target& target, const Permit& permit);
  [[nodiscard]] JobProgress resume(const Target& target, const JobMove& move, const Permit& permit);

  kube::Api& api_;
};

}  // namespace gpuward::remediator
