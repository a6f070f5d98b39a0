#include "exporter/checks/check/decide.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/check/verdict.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostDetailBytes = 1024;

CheckStatus status_of(CheckOutcome::Kind kind) {
  switch (kind) {
    case CheckOutcome::Kind::kSkipped:
      return CheckStatus::kSkip;
    case CheckOutcome::Kind::kError:
      return CheckStatus::kError;
    case CheckOutcome::Kind::kDone:
      break;
  }
  return CheckStatus::kPass;
}

// A finding that this run did not examine, or may not clear, keeps its severity.
Severity worst_standing(const CheckOutcome& outcome, const std::vector<Finding>& standing) {
  Severity worst = Severity::kNone;
  for (const Finding& finding : standing) {
    const bool is_cleared_elsewhere =
        finding.cleared_by != ClearedBy::kCheck && finding.cleared_by != ClearedBy::kDiagnostics;
    const bool is_untold = std::ranges::any_of(
        outcome.untold, [&](const Untold& untold) { return untold.covers(finding); });
    if (is_cleared_elsewhere || is_untold) worst = std::max(worst, finding.severity);
  }
  return worst;
}

}  // namespace

CheckResult decide_status(CheckOutcome outcome, std::string_view check, const RunTimes& times,
                          const std::vector<Finding>& standing) {
  const bool could_tell = outcome.kind == CheckOutcome::Kind::kDone;
  if (!could_tell && outcome.untold.empty()) outcome.untold.emplace_back();
  CheckResult result;
  result.check = check;
  result.started = times.started;
  result.duration = times.duration;
  const Verdict verdict = verdict_at(
      status_of(outcome.kind),
      std::max({worst_of(outcome.findings), outcome.latched, worst_standing(outcome, standing)}));
  result.status = verdict.status;
  result.severity = verdict.severity;
  result.details = to_valid_utf8(outcome.details, kMostDetailBytes);
  result.findings = std::move(outcome.findings);
  for (Finding& finding : result.findings) {
    finding.check = check;
    finding.evidence = Evidence::kMeasured;
    finding.first_seen = finding.last_seen = times.started + times.duration;
  }
  result.untold = std::move(outcome.untold);
  result.suspected = std::move(outcome.suspected);
  result.no_job = to_valid_utf8(outcome.no_job, kMostDetailBytes);
  return result;
}

std::vector<Finding> check_findings(const State& state, std::string_view check) {
  std::vector<Finding> found;
  for (const auto& [key, finding] : state.findings) {
    if (key.check == check && finding.severity != Severity::kNone) found.push_back(finding);
  }
  return found;
}

}  // namespace gpuward::exporter
