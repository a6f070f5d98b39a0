// What is written into the Remediation and told: decisions, intents before the node is changed,
// results after it, Events, the audit trail, sinks. Used by the Reconciler and the parts of it.
#pragma once

#include <string>

#include "remediator/execution/case.h"
#include "remediator/execution/pending_records.h"
#include "remediator/execution/reconciler_parts.h"

namespace gpuward::remediator {

// Any thread, of one Remediation at a time. An error of a write leaves the case as it was.
class CaseRecords {
 public:
  CaseRecords(const ReconcilerParts& parts, PendingRecords& pending)
      : parts_(parts), pending_(pending) {}

  // A decision that changes nothing but the record.
  [[nodiscard]] Status write_decision(Case& now);
  // Something forbids every change right now: what was to be done waits, and says why.
  [[nodiscard]] Status hold_stopped(Case& now, const Error& why);
  // The step itself has to wait for something, as its guards do.
  [[nodiscard]] Status wait_for(Case& now, const std::string& what);
  // Written before the node is touched. After a crash or a conflict the same intent stands already.
  [[nodiscard]] Status write_intent(Case& now, const NodePlan& plan);
  // After a conflict; `without_intent`: as it was before.
  void withdraw_intent(Case& now, const Error& why, const RemediationStatus& without_intent);
  [[nodiscard]] Status write_failure(Case& now, const Error& error);
  // The status as it is to be, with conditions, milestones and what is to be told on top.
  [[nodiscard]] Status write(Case& now, const RemediationStatus& next);
  void audit(const Case& now, AuditMoment moment, const std::string& error = {});
  // As an Event, where the phase is another one than `before` or something was done to the node.
  void announce(const Case& now, Phase before);
  void say(const Case& now, const std::string& what);
  // Notifies the operator of what the write could not notify of; tries again until it succeeds.
  [[nodiscard]] Status notify_operator(Case& now);
  // The sinks do not know yet how bad it is, or the record, of an older version, does not have what
  // they know; any next write mends it.
  [[nodiscard]] bool has_news(const Case& now) const;
  // Hands what is to be told to the sinks, and writes down what they have.
  [[nodiscard]] Status notify_sinks(Case& now);

 private:
  const ReconcilerParts& parts_;
  PendingRecords& pending_;
};

}  // namespace gpuward::remediator
