// Starts, watches and abandons steps, and records their outcome: the intent before begin(), the
// result after it. After a crash in between, the next check calls watch(). Used by the Reconciler.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/act/case.h"
#include "remediator/act/case_records.h"
#include "remediator/act/reconciler_parts.h"
#include "remediator/act/step_clock.h"
#include "remediator/cluster/gates/joint_read.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Decides whether a step may change something right now, right before each call that changes
// anything. It reads all inputs again, and no answer rests on data older than 30 s. Steps call it,
// and repeat the check before each retry of an eviction or cloud call. Thread-safe.
class StepPermits {
 public:
  StepPermits(const ReconcilerParts& parts, CaseReader& reader, const CaseDecider& decider)
      : parts_(parts), reader_(reader), decider_(decider) {}

  // The target of a step, and when the step was intended (RFC 3339).
  struct Claim {
    std::string remediation, node, node_uid;
    Step step;
    std::string intended;
    bool is_silent = false;  // The step rests on proofs that a silent node's machine is down.
    // The step belongs to a drill or started in one, so the Node must allow drills.
    bool is_drill = false;
    std::string boot;  // The boot of the decision, which must still run; empty: any boot.
  };
  // Allows a step only while the record has its intent. For a step on the node, the decision on a
  // new read must also still be to take the step. While a process was suspended, another process
  // may have withdrawn or finished the step, and the view may not know yet that the Node was
  // replaced.
  [[nodiscard]] Status for_step(const Claim& claim);

 private:
  [[nodiscard]] Status check(const Claim& claim);
  [[nodiscard]] Status check_claim(const Claim& claim, const FreshCase& now);

  const ReconcilerParts& parts_;
  CaseReader& reader_;
  const CaseDecider& decider_;
  // By Remediation and step, because many evictions of one drain wait at the same moment.
  JointReads reads_;
};

// Records the severity that the kernel has confirmed and the class of the error, for people.
void note_evidence(const HealthReport& report, RemediationStatus& status);

// Carries out steps. Any thread may call it, but for one Remediation at a time.
class StepExecution {
 public:
  StepExecution(const ReconcilerParts& parts, const CaseDecider& decider, CaseRecords& records,
                StepPermits& permits, StepClock& clock)
      : parts_(parts), decider_(decider), records_(records), permits_(permits), clock_(clock) {}

  // Starts the step. Needs a fresh case, because a step disrupts users.
  [[nodiscard]] Status begin(FreshCase& decided);
  [[nodiscard]] Status watch(Case& now);
  // Ends steps that are still running. Called before a node returns to service, and before another
  // step starts after the node got worse. A step that may not be ended does not keep the node
  // forever.
  [[nodiscard]] Status abandon(const Case& now);
  // Records a failure of a diagnostic that gpuward no longer watches, because the node got worse or
  // its Remediation ends; returns true if there was one. Also records a restart by a Job that may
  // still come after the node is back in service.
  [[nodiscard]] Result<bool> record_left_failures(FreshCase& decided);
  // Ends the Jobs of the steps before the Remediation is closed. Otherwise a Job would run beside
  // the Jobs of the node's next Remediation.
  [[nodiscard]] Status abandon_jobs(FreshCase& decided);
  // Resumes the jobs that the step restart-job has suspended, if gpuward no longer watches that
  // step.
  [[nodiscard]] Status give_back_jobs(const Case& now);
  // Drops the memory about the Remediation. Called when the Remediation is closed or gone.
  void forget(const std::string& remediation);

 private:
  [[nodiscard]] Status abandon(const Case& now, bool (*which)(const StepRecord&));
  // The outcome of a check of a step, and how long the step has run.
  struct Looked {
    Result<StepProgress> progress;
    std::chrono::milliseconds ran{0};
  };
  [[nodiscard]] StepRequest request_of(const Case& now);
  [[nodiscard]] Looked look(Case& now, StepAction& action,
                            Result<StepProgress> (StepAction::*how)(const StepRequest&));
  [[nodiscard]] Status record_call(Case& now, const Looked& looked);
  [[nodiscard]] Status record_refusal(Case& now, Looked looked);
  [[nodiscard]] Status record_progress(Case& now, const Looked& looked);
  void note_message(const std::string& remediation);
  [[nodiscard]] bool is_too_small_to_write(const Case& now, const RemediationStatus& next);

  const ReconcilerParts& parts_;
  const CaseDecider& decider_;
  CaseRecords& records_;
  StepPermits& permits_;
  StepClock& clock_;
  std::mutex mutex_;
  // Last write for each Remediation with a running step.
  std::map<std::string, Clock::Steady> written_at_;
  std::optional<Clock::Steady> last_written_;  // Last write for any running step.
};

}  // namespace gpuward::remediator
