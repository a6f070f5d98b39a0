// Starts, watches and abandons steps, and records their outcome: the intent before begin(), the
// result after it. After a crash in between, the next check is a watch(). Used by the Reconciler.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "remediator/execution/case.h"
#include "remediator/execution/case_records.h"
#include "remediator/execution/reconciler_parts.h"
#include "remediator/execution/step_clock.h"
#include "remediator/gates/joint_read.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Whether a step may change something right now; checked right before each call that changes
// anything. All of it is read freshly, and no answer rests on data older than 30 s. Steps get it,
// and their evictions and cloud calls check it again before each repeat. Thread-safe.
class StepPermits {
 public:
  StepPermits(const ReconcilerParts& parts, CaseReader& reader, const CaseDecider& decider)
      : parts_(parts), reader_(reader), decider_(decider) {}

  // The target of a step, and when it was intended (RFC 3339).
  struct Claim {
    std::string remediation, node, node_uid;
    Step step;
    std::string intended;
    bool is_silent = false;  // it rests on proofs that a silent node's machine is down
    bool is_drill = false;   // it belongs to a drill or started in one: the Node must allow drills
    std::string boot;        // the boot that it was decided on, which must still run; empty: any
  };
  // Allows a step only while its intent is in the record and, if it acts on the node, the decision
  // on what was read just now is still to take it. If a process was suspended, another one may have
  // withdrawn or finished the step meanwhile, and the view may not know yet that the Node was
  // replaced.
  [[nodiscard]] Status for_step(const Claim& claim);

 private:
  [[nodiscard]] Status check(const Claim& claim);
  [[nodiscard]] Status check_claim(const Claim& claim, const FreshCase& now);

  const ReconcilerParts& parts_;
  CaseReader& reader_;
  const CaseDecider& decider_;
  // By Remediation and step: many evictions of one drain wait at the same moment.
  JointReads reads_;
};

// Records the severity that the kernel has confirmed and the class of the error, for people to
// read.
void note_evidence(const HealthReport& report, RemediationStatus& status);

// Any thread, one Remediation at a time.
class StepExecution {
 public:
  StepExecution(const ReconcilerParts& parts, const CaseDecider& decider, CaseRecords& records,
                StepPermits& permits, StepClock& clock)
      : parts_(parts), decider_(decider), records_(records), permits_(permits), clock_(clock) {}

  // Needs a fresh case: a step disrupts users.
  [[nodiscard]] Status begin(FreshCase& decided);
  [[nodiscard]] Status watch(Case& now);
  // Called before a node returns to service, and before another step starts: a step that is still
  // running was superseded because the node got worse. A step that may not be ended does not keep
  // the node forever.
  [[nodiscard]] Status abandon(const Case& now);
  // A diagnostic that is no longer watched, because the node got worse or its Remediation ends, may
  // have failed unnoticed. Records that and returns true if so. It also records a restart by a Job
  // that may still come after the node is back in service.
  [[nodiscard]] Result<bool> record_left_failures(FreshCase& decided);
  // Called before the Remediation is closed: a Job would otherwise run beside those of the node's
  // next one.
  [[nodiscard]] Status abandon_jobs(FreshCase& decided);
  // Resumes the jobs that the step restart-job has suspended, if that step is no longer watched.
  [[nodiscard]] Status give_back_jobs(const Case& now);
  // Called when the Remediation is closed or gone.
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
  std::map<std::string, Clock::Steady> written_at_;  // by Remediation, of running steps
  std::optional<Clock::Steady> last_written_;        // of all running steps
};

}  // namespace gpuward::remediator
