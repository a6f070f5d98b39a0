// Restarts jobs as a whole that have lost pods by a drain: reads a job and its pods, decides by
// job_move.h, and does it. Holds nothing in memory: what was begun stands on the job itself and in
// the step's record. Used by the step restart-job.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "remediator/restart/job_move.h"

namespace gpuward::remediator {

struct JobProgress {
  std::string known;  // for the step's record: how far it is, or how it has ended
  std::string words;  // the same for people
  bool is_settled = false;
  bool failed = false;
};

// Whether it is to be changed at the next look, once that is in the record.
[[nodiscard]] bool is_intended(std::string_view known);
// Whether that is how a job has ended.
[[nodiscard]] bool is_settled(std::string_view known);
[[nodiscard]] bool has_failed(std::string_view known);

class JobRestarter {
 public:
  explicit JobRestarter(kube::Api& api) : api_(api) {}

  // One look at the job, and one change at most, for which `permit` is asked right before. What is
  // intended must be in the record before the next look.
  [[nodiscard]] JobProgress advance(const std::string& job, const std::string& known,
                                    const RestartClaim& claim, const Permit& permit);
  // Resumes the job where that Remediation has suspended it, whatever else is true of it. An error:
  // it may be suspended still.
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
