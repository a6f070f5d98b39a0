// Begins, watches and leaves steps, and writes down what came of them: the intent before begin(),
// the result after it; after a crash in between the next look is a watch(). Used by the Reconciler.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "remediator/execution/case.h"
#include "remediator/execution/case_decider.h"
#include "remediator/execution/case_records.h"
#include "remediator/execution/reconciler_parts.h"
#include "remediator/execution/step_permits.h"

namespace gpuward::remediator {

// What the kernel has said, and the class of the error: for people to read.
void note_evidence(const HealthReport& report, RemediationStatus& status);

// Any thread, of one Remediation at a time.
class StepExecution {
 public:
  StepExecution(const ReconcilerParts& parts, const CaseDecider& decider, CaseRecords& records,
                StepPermits& permits)
      : parts_(parts), decider_(decider), records_(records), permits_(permits) {}

  // Never on what was seen before: a step disrupts somebody.
  [[nodiscard]] Status begin(FreshCase& decided);
  [[nodiscard]] Status watch(Case& now);
  // Before a node goes back into service, and before another step is begun: then what is still
  // under way was left because the node got worse. What may not be ended does not keep the node for
  // ever.
  [[nodiscard]] Status abandon(const Case& now);
  // Before the Remediation is closed: a Job would go on beside those of the node's next one.
  [[nodiscard]] Status abandon_jobs(FreshCase& decided);
  // The Remediation is closed or gone.
  void forget(const std::string& remediation);

 private:
  [[nodiscard]] Status abandon(const Case& now, bool (*which)(Step));
  [[nodiscard]] StepOrder order_of(const Case& now);
  [[nodiscard]] Status record_call(Case& now, const Result<StepProgress>& progress);
  [[nodiscard]] Status record_progress(Case& now, const Result<StepProgress>& progress);
  [[nodiscard]] std::optional<Decision> end_after(const Case& now, const RemediationStatus& next);
  void note_words(const std::string& remediation);
  [[nodiscard]] bool is_not_worth_a_write(const Case& now, const RemediationStatus& next);

  const ReconcilerParts& parts_;
  const CaseDecider& decider_;
  CaseRecords& records_;
  StepPermits& permits_;
  std::mutex mutex_;
  std::map<std::string, Clock::Steady> said_at_;  // by Remediation, of steps that go on
  std::optional<Clock::Steady> last_said_;        // of all of them
};

}  // namespace gpuward::remediator
