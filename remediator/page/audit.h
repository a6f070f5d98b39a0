// The audit trail: one JSON line a decision, with its evidence, to a file or stdout. Not the log:
// it has a documented shape (docs of --audit.path) and no level. Each line is one write, so that
// lines never mix.
//
//   time, moment (decided|done|failed), remediation, node, nodeUID, bootID, instanceID, severity,
//   phase, verdict, action, rule, mode, message, reasons[], steps[{name,result,attempts}],
//   alerts[{alertname,fingerprint,severity,startsAt,endedAt}], preExistingCordon, error
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "core/model/result.h"
#include "remediator/workflow/observer.h"

namespace gpuward::remediator {

[[nodiscard]] std::string to_audit_line(const AuditRecord& record);  // ends with a newline

// Any thread.
class AuditTrail {
 public:
  // Appends to `path`; empty: stdout. kForbidden or kNotFound where it cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<AuditTrail>> open(const std::filesystem::path& path);
  ~AuditTrail();
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  void write(const AuditRecord& record);
  // Lines that could not be written.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  AuditTrail(int descriptor, bool owned) : descriptor_(descriptor), owned_(owned) {}

  int descriptor_;
  bool owned_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace gpuward::remediator
