// Receives all events and passes them on: to the metrics, the audit trail and the log. Made by the
// composition root, so that the other parts do not depend on each other.
#pragma once

#include "core/runtime/log.h"
#include "remediator/act/observer.h"
#include "remediator/inbox/sources/ignored_episodes.h"
#include "remediator/inbox/sources/intake.h"
#include "remediator/inbox/sources/webhook_observer.h"
#include "remediator/tell/page/audit.h"
#include "remediator/tell/page/counters.h"

namespace gpuward::remediator {

class Recorder final : public WebhookObserver, public ReconcileObserver, public IntakeObserver {
 public:
  Recorder(Counters& counters, AuditTrail& audit, Log& log)
      : counters_(counters), audit_(audit), log_(log) {}

  void on_notification(const WebhookOutcome& outcome) override;
  void on_ignored(const AlertSignal& signal, Ignored reason) override;
  void on_audit(const AuditRecord& record) override;
  void on_error(const std::string& node, const Error& error) override;
  void on_milestone(Milestone milestone, std::chrono::duration<double> since_fault) override;

 private:
  Counters& counters_;
  AuditTrail& audit_;
  Log& log_;
  IgnoredEpisodes ignored_;
};

}  // namespace gpuward::remediator
