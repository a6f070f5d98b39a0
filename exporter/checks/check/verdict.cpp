#include "exporter/checks/check/verdict.h"

#include <algorithm>

#include "core/xid/event.h"
#include "exporter/checks/check/finding_codes.h"

namespace gpuward::exporter {

Verdict verdict_at(CheckStatus run, Severity worst) {
  if (worst >= Severity::kReset) return {CheckStatus::kFail, worst};
  switch (run) {
    case CheckStatus::kSkip:
      return {CheckStatus::kSkip, Severity::kNone};
    case CheckStatus::kError:
      return {CheckStatus::kError, worst};
    case CheckStatus::kPass:
    case CheckStatus::kWarn:
    case CheckStatus::kFail:
      break;
  }
  return {worst == Severity::kMonitor ? CheckStatus::kWarn : CheckStatus::kPass, worst};
}

bool speaks_for(std::string_view check, const Finding& finding) {
  if (finding.severity == Severity::kNone) return false;
  if (finding.check == check) return true;
  return check == kNvidiaSmiCheck &&
         (finding.check == kGpuCheck || xid::is_of_hardware(finding.check));
}

Verdict verdict_of(const CheckResult& newest, const State& state) {
  const bool is_skip = newest.status == CheckStatus::kSkip;
  Severity worst = Severity::kNone;
  for (const auto& [key, finding] : state.findings) {
    const bool is_own = finding.check == newest.check;
    if (speaks_for(newest.check, finding) && (is_own || !is_skip))
      worst = std::max(worst, finding.severity);
  }
  return verdict_at(newest.status, worst);
}

}  // namespace gpuward::exporter
