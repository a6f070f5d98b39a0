// Reports the reconciler's decisions and actions to tell/page/audit, which logs them, and to
// tell/page/metrics, which counts them.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "remediator/decide/decide.h"
#include "remediator/model/milestone.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// kDecided comes before the action, once the Remediation records the decision. kDone and kFailed
// report the outcome.
enum class AuditMoment : std::uint8_t { kDecided, kDone, kFailed };

struct AuditRecord {
  AuditMoment moment = AuditMoment::kDecided;
  WallTime at;
  const Remediation& remediation;  // As it is in the API server.
  const Decision& decision;
  std::string_view action;  // "quarantine", "release"; empty if the node is not changed.
  std::string error;        // The error of kFailed.
};

// The interface of the observers. Any thread may call it, several at once. A call must be quick and
// must not throw.
class ReconcileObserver {
 public:
  virtual ~ReconcileObserver() = default;
  virtual void on_audit(const AuditRecord& record) = 0;
  // Reports a reconcile that will be retried. Conflicts are common and are not reported.
  virtual void on_error(const std::string& node, const Error& error) = 0;
  // Reports once that a Remediation has passed the milestone and the API server has the record.
  virtual void on_milestone(Milestone, std::chrono::duration<double> /*since_fault*/) {}
};

}  // namespace gpuward::remediator
