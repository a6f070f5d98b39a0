#include "remediator/tell/page/audit.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 3> kMoments = {"decided", "done", "failed"};

Json steps_of(const RemediationStatus& status) {
  Json steps = Json::array();
  for (const StepRecord& step : status.steps) {
    steps.push_back({{"name", std::string(to_string(step.step))},
                     {"result", std::string(to_string(step.result))},
                     {"attempts", step.attempts}});
  }
  return steps;
}

Json alerts_of(const Remediation& remediation) {
  Json alerts = Json::array();
  for (const AlertEvidence& alert : remediation.alerts) {
    alerts.push_back({{"alertname", alert.alertname},
                      {"fingerprint", alert.fingerprint},
                      {"severity", std::string(to_string(alert.severity))},
                      {"errorClass", alert.error_class},
                      {"startsAt", to_rfc3339_ms(alert.starts_at)},
                      {"endedAt", alert.ended_at ? Json(to_rfc3339_ms(*alert.ended_at)) : Json()}});
  }
  return alerts;
}

Result<int> open_to_append(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  if (descriptor >= 0) return descriptor;
  return fail(ErrorKind::kInvalid, "--audit.path " + path.string() + ": " + std::strerror(errno));
}

}  // namespace

std::string to_audit_line(const AuditRecord& record) {
  const Remediation& remediation = record.remediation;
  const RemediationStatus& status = remediation.status;
  const Json line = {
      {"time", to_rfc3339_ms(record.at)},
      {"moment", std::string(kMoments[static_cast<std::size_t>(record.moment)])},
      {"remediation", remediation.name},
      {"node", remediation.node},
      {"nodeUID", remediation.node_uid},
      {"bootID", remediation.boot_id},
      {"instanceID", remediation.instance_id},
      {"severity", std::string(to_string(remediation.severity))},
      {"drill", remediation.is_drill()},
      {"phase", std::string(to_string(status.phase))},
      {"verdict", std::string(to_string(record.decision.verdict))},
      {"action", std::string(record.action)},
      {"rule", record.decision.rule},
      {"mode", std::string(to_string(status.mode))},
      {"message", record.decision.message},
      {"reasons", record.decision.reasons},
      {"steps", steps_of(status)},
      {"alerts", alerts_of(remediation)},
      {"preExistingCordon",
       status.pre_existing_cordon ? Json(*status.pre_existing_cordon) : Json()},
      {"kernelSeverity", status.confirmed_severity
                             ? Json(std::string(to_string(*status.confirmed_severity)))
                             : Json()},
      {"errorClass", error_class_of(remediation)},
      {"error", record.error}};
  return dump_json(line) + "\n";
}

Result<std::unique_ptr<AuditTrail>> AuditTrail::open(const std::filesystem::path& path) {
  const auto descriptor = path.empty() ? Result<int>(STDOUT_FILENO) : open_to_append(path);
  if (!descriptor) return std::unexpected(descriptor.error());
  return std::unique_ptr<AuditTrail>(new AuditTrail(path, *descriptor));
}

AuditTrail::~AuditTrail() {
  if (!path_.empty()) ::close(descriptor_);
}

Status AuditTrail::reopen() {
  if (path_.empty()) return {};
  const auto descriptor = open_to_append(path_);
  if (!descriptor) return std::unexpected(descriptor.error());
  const std::lock_guard lock(mutex_);
  ::close(std::exchange(descriptor_, *descriptor));
  return {};
}

void AuditTrail::write(const AuditRecord& record) {
  const std::string line = to_audit_line(record);
  const std::lock_guard lock(mutex_);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      ++lost_;
      return;
    }
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace gpuward::remediator
