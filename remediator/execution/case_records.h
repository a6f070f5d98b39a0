// Writes into the Remediation and notifies: decisions, intents before the node is changed, results
// after it, Events, the audit trail, sinks. Used by the Reconciler and its parts.
#pragma once

#include <string>

#include "remediator/execution/case.h"
#include "remediator/execution/pending_records.h"
#include "remediator/execution/reconciler_parts.h"

namespace gpuward::remediator {

// Any thread, one Remediation at a time. If a write fails, the case stays as it was.
class CaseRecords {
 public:
  CaseRecords(const ReconcilerParts& parts, PendingRecords& pending)
      : parts_(parts), pending_(pending) {}

  // Writes a decision that changes only the record.
  [[nodiscard]] Status write_decision(Case& now);
  // All changes are forbidden right now: records that the step waits, and why.
  [[nodiscard]] Status hold_stopped(Case& now, const Error& why);
  // Records that the step itself has to wait, as a guard requires.
  [[nodiscard]] Status wait_for(Case& now, const std::string& what);
  // Written before the node is changed. After a crash or a conflict the record already has it.
  [[nodiscard]] Status write_intent(Case& now, const NodePlan& plan);
  // Called after a conflict. `without_intent`: the status before the intent.
  void withdraw_intent(Case& now, const Error& why, const RemediationStatus& without_intent);
  [[nodiscard]] Status write_failure(Case& now, const Error& error);
  // Writes `next` with its conditions, milestones and notices.
  [[nodiscard]] Status write(Case& now, const RemediationStatus& next);
  void audit(const Case& now, AuditMoment moment, const std::string& error = {});
  // Sends an Event if the phase differs from `before` or the node was changed.
  void announce(const Case& now, Phase before);
  void say(const Case& now, const std::string& what);
  // Notifies an operator if the write could not; retries until it succeeds.
  [[nodiscard]] Status notify_operator(Case& now);
  // Whether the sinks do not know the present severity yet, or the record of an older version lacks
  // what they know. The next write of any kind corrects it.
  [[nodiscard]] bool has_news(const Case& now) const;
  // Hands the notices to the sinks, and records what they have accepted.
  [[nodiscard]] Status notify_sinks(Case& now);

 private:
  const ReconcilerParts& parts_;
  PendingRecords& pending_;
};

}  // namespace gpuward::remediator
