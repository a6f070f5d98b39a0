#include "exporter/commands/quarantine_verdict.h"

#include <algorithm>
#include <string_view>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "exporter/publish/node/node_keys.h"

namespace gpuward::exporter {
namespace {

bool any(const std::vector<CheckResult>& results, CheckStatus status) {
  return std::ranges::any_of(results, [&](const CheckResult& r) { return r.status == status; });
}

// DCGM's, where it was asked for: a pass of NCCL beside it says nothing of what was skipped.
bool has_passed_diagnostic(const std::vector<CheckResult>& results) {
  for (const std::string_view diagnostic : {"4-", "5-"}) {
    const auto result = std::ranges::find_if(
        results, [&](const CheckResult& known) { return known.check.starts_with(diagnostic); });
    if (result != results.end()) return result->status == CheckStatus::kPass;
  }
  return false;
}

NodeStatus status_of(const std::vector<CheckResult>& results, Severity severity) {
  if (severity >= Severity::kReset) return NodeStatus::kFail;
  const bool is_clean = has_passed_diagnostic(results) && severity == Severity::kNone &&
                        !any(results, CheckStatus::kError) && !any(results, CheckStatus::kWarn);
  return is_clean ? NodeStatus::kPass : NodeStatus::kWarn;
}

std::string next_step(const QuarantineVerdict& verdict) {
  switch (verdict.severity) {
    case Severity::kIsolate:
      return "replace the node";
    case Severity::kReboot:
      return "reboot the node and quarantine it again; replace it when it fails again";
    case Severity::kReset:
      return "reset its GPUs and quarantine it again; replace it when it fails again";
    case Severity::kMonitor:
      return "look at the checks: one has a warning, could not tell or did not run";
    case Severity::kNone:
      break;
  }
  return "remove the taint and uncordon the node";
}

}  // namespace

QuarantineVerdict judge_quarantine(const std::vector<CheckResult>& results) {
  QuarantineVerdict verdict;
  verdict.severity = Severity::kNone;
  for (const CheckResult& result : results)
    verdict.severity = std::max(verdict.severity, result.severity);
  verdict.status = status_of(results, verdict.severity);
  if (verdict.status == NodeStatus::kWarn) verdict.severity = Severity::kMonitor;
  verdict.recommendation = verdict.status == NodeStatus::kPass      ? "return-to-service"
                           : verdict.severity == Severity::kIsolate ? "replace"
                                                                    : "investigate";
  verdict.next = next_step(verdict);
  return verdict;
}

std::string quarantine_result(const QuarantineVerdict& verdict,
                              const std::vector<CheckResult>& results, std::string_view node,
                              WallTime now) {
  Json checks = Json::array();
  for (const CheckResult& result : results) {
    checks.push_back({{"check", result.check},
                      {"status", to_string(result.status)},
                      {"severity", severity_word(result.severity)}});
  }
  return dump_json({{"timestamp", to_rfc3339(now)},
                    {"node", node},
                    {"suite", "quarantine"},
                    {"status", to_string(verdict.status)},
                    {"severity", severity_word(verdict.severity)},
                    {"recommendation", verdict.recommendation},
                    {"next", verdict.next},
                    {"checks", std::move(checks)}});
}

}  // namespace gpuward::exporter
