// Begins, watches and leaves steps, and writes down what came of them: the intent before begin(),
// the result after it; after a crash in between the next look is a watch(). Used by the Reconciler.
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

// Whether a step may change something right now: asked right before each call that changes
// anything. All is read afresh; what an answer rests on is never older than 30 s. Handed to the
// steps, whose evictions and cloud calls ask again before each repeat. Any thread.
class StepPermits {
 public:
  StepPermits(const ReconcilerParts& parts, CaseReader& reader) : parts_(parts), reader_(reader) {}

  // What a step was intended for, and when (RFC 3339).
  struct Claim {
    std::string remediation, node, node_uid;
    Step step;
    std::string intended;
    bool is_silent = false;  // it rests on proofs that the machine of a silent node is down
    bool is_drill = false;   // it is of a drill, or was begun in one: the Node must allow drills
    std::string boot;        // the one that it was decided on and must be in still; empty: any
  };
  // For a step: only while that intent stands, while the node is the one that it was intended for,
  // while neither is excluded, and while the mode goes so far. A process that stood still has been
  // overtaken by another, which has withdrawn it or done it; and the view may not know yet that the
  // Node is another.
  [[nodiscard]] Status for_step(const Claim& claim);

 private:
  [[nodiscard]] Status check_intent(const Claim& claim);
  [[nodiscard]] Status check_node(const Claim& claim);
  [[nodiscard]] Status check_exclusion(const Claim& claim, const kube::Node& node);

  const ReconcilerParts& parts_;
  CaseReader& reader_;
  // By Remediation and step: many evictions of one drain wait at the same moment.
  JointReads reads_;
};

// What the kernel has said, and the class of the error: for people to read.
void note_evidence(const HealthReport& report, RemediationStatus& status);

// Any thread, of one Remediation at a time.
class StepExecution {
 public:
  StepExecution(const ReconcilerParts& parts, const CaseDecider& decider, CaseRecords& records,
                StepPermits& permits, StepClock& clock)
      : parts_(parts), decider_(decider), records_(records), permits_(permits), clock_(clock) {}

  // Never on what was seen before: a step disrupts somebody.
  [[nodiscard]] Status begin(FreshCase& decided);
  [[nodiscard]] Status watch(Case& now);
  // Before a node goes back into service, and before another step is begun: then what is still
  // under way was left because the node got worse. What may not be ended does not keep the node for
  // ever.
  [[nodiscard]] Status abandon(const Case& now);
  // A diagnostic that is not watched any more, because the node got worse or its Remediation ends,
  // may have failed while nobody looked. True where that was so; it is written down. So is a
  // restart by a Job that may come after the node is back in service.
  [[nodiscard]] Result<bool> record_left_failures(FreshCase& decided);
  // Before the Remediation is closed: a Job would go on beside those of the node's next one.
  [[nodiscard]] Status abandon_jobs(FreshCase& decided);
  // Where the step that restarts jobs is not watched any more: resumes those that it has suspended.
  [[nodiscard]] Status give_back_jobs(const Case& now);
  // The Remediation is closed or gone.
  void forget(const std::string& remediation);

 private:
  [[nodiscard]] Status abandon(const Case& now, bool (*which)(const StepRecord&));
  // What came of a look at a step, and how long that has run.
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
  std::map<std::string, Clock::Steady> written_at_;  // by Remediation, of steps that go on
  std::optional<Clock::Steady> last_written_;        // of all of them
};

}  // namespace gpuward::remediator
