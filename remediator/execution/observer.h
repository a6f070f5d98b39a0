// What the reconciler decided and did, for whoever writes it down (page/audit) and counts it
// (page/metrics).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "remediator/decision/decide.h"
#include "remediator/model/milestone.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// kDecided comes before anything is done and after it is in the Remediation; the others say how it
// went.
enum class AuditMoment : std::uint8_t { kDecided, kDone, kFailed };

struct AuditRecord {
  AuditMoment moment = AuditMoment::kDecided;
  WallTime at;
  const Remediation& remediation;  // as it is in the API server now
  const Decision& decision;
  std::string_view action;  // "quarantine", "release"; empty where nothing is done to the node
  std::string error;        // of kFailed
};

// Any thread, several at once; must be quick and must not throw.
class ReconcileObserver {
 public:
  virtual ~ReconcileObserver() = default;
  virtual void on_audit(const AuditRecord& record) = 0;
  // A reconcile that will be tried again; conflicts are everyday and are not told.
  virtual void on_error(const std::string& node, const Error& error) = 0;
  // A Remediation has come past it and the API server knows; once for each.
  virtual void on_milestone(Milestone, std::chrono::duration<double> /*since_fault*/) {}
};

}  // namespace gpuward::remediator
