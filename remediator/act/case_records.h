// Writes into the Remediation and sends notifications: decisions, intents before the node is
// changed, results after it, Events, the audit trail, sinks. Used by the Reconciler and its parts.
#pragma once

#include <string>

#include "remediator/act/case.h"
#include "remediator/act/pending_records.h"
#include "remediator/act/reconciler_parts.h"

namespace gpuward::remediator {

// Records cases. Any thread may call it, but for one Remediation at a time. If a write fails, the
// case stays unchanged.
class CaseRecords {
 public:
  CaseRecords(const ReconcilerParts& parts, PendingRecords& pending)
      : parts_(parts), pending_(pending) {}

  // Writes a decision that changes only the record.
  [[nodiscard]] Status write_decision(Case& now);
  // Records that the step waits because all changes are forbidden now, and the reason `why`.
  [[nodiscard]] Status hold_stopped(Case& now, const Error& why);
  // Records that the step has to wait because a guard requires it.
  [[nodiscard]] Status wait_for(Case& now, const std::string& what);
  // Writes the intent before the node is changed, so that the record has it after a crash or a
  // conflict.
  [[nodiscard]] Status write_intent(Case& now, const NodePlan& plan);
  // Withdraws the intent after a conflict. `without_intent`: the status before the intent.
  void withdraw_intent(Case& now, const Error& why, const RemediationStatus& without_intent);
  [[nodiscard]] Status write_failure(Case& now, const Error& error);
  // Writes `next` with its conditions, milestones and notices.
  [[nodiscard]] Status write(Case& now, const RemediationStatus& next);
  void audit(const Case& now, AuditMoment moment, const std::string& error = {});
  // Sends an Event if the phase differs from `before` or the node was changed.
  void announce(const Case& now, Phase before);
  void say(const Case& now, const std::string& what);
  // Notifies an operator if the write could not. The caller retries until it succeeds.
  [[nodiscard]] Status notify_operator(Case& now);
  // Returns whether the sinks do not have the present severity yet, or an older version's record
  // lacks the severity that they have. The next write of any kind corrects both.
  [[nodiscard]] bool has_news(const Case& now) const;
  // Passes the notices to the sinks, and records which notices the sinks have accepted.
  [[nodiscard]] Status notify_sinks(Case& now);

 private:
  const ReconcilerParts& parts_;
  PendingRecords& pending_;
};

}  // namespace gpuward::remediator
