// The audit trail: one JSON line for each decision, with its evidence, to a file or stdout. It is
// not the log: it has a documented format (docs of --audit.path) and no level. Each line is one
// write, so that lines never mix.
//
//   time, moment (decided|done|failed), remediation, node, nodeUID, bootID, instanceID, severity,
//   phase, verdict, action, rule, mode, message, reasons[], steps[{name,result,attempts}],
//   alerts[{alertname,fingerprint,severity,errorClass,startsAt,endedAt}], preExistingCordon,
//   errorClass, error
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "core/model/result.h"
#include "remediator/act/observer.h"

namespace gpuward::remediator {

// Returns the line with its newline.
[[nodiscard]] std::string to_audit_line(const AuditRecord& record);

// The file of the audit trail. Thread-safe.
class AuditTrail {
 public:
  // Opens `path` for appending; empty: stdout. Returns kForbidden or kNotFound if the file cannot
  // be opened.
  [[nodiscard]] static Result<std::unique_ptr<AuditTrail>> open(const std::filesystem::path& path);
  // Continues in the current file of that path, after logrotate has moved the old file. If the new
  // file cannot be opened, the old file stays in use. No line is lost or split.
  [[nodiscard]] Status reopen();
  ~AuditTrail();
  AuditTrail(const AuditTrail&) = delete;
  AuditTrail& operator=(const AuditTrail&) = delete;

  void write(const AuditRecord& record);
  // Returns the number of lines that could not be written.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  AuditTrail(std::filesystem::path path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  const std::filesystem::path path_;  // Empty: stdout, which must stay open.
  int descriptor_;
  std::mutex mutex_;
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace gpuward::remediator
