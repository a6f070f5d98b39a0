// The status of a check, from its run and from the findings that count for it. Pure; used when a
// result is made (decide.h) and when results are published.
#pragma once

#include <string_view>

#include "core/model/check_result.h"
#include "exporter/store/state.h"

namespace gpuward::exporter {

struct Verdict {
  CheckStatus status = CheckStatus::kError;
  Severity severity = Severity::kNone;
};

// Returns the status of a check by its worst finding: fail from reset up, warn for monitor. An
// error stays an error and a skip stays a skip, unless a finding fails the check. A skip has no
// severity.
[[nodiscard]] Verdict verdict_at(CheckStatus run, Severity worst);

// Returns whether that finding, which is still open, counts for `check`: its own findings, and for
// check 0 also those of check "gpu" and the log records of drivers and machine. Programs, rules of
// the operator and announcements count only for themselves.
[[nodiscard]] bool speaks_for(std::string_view check, const Finding& finding);

// Returns the verdict to publish: the newest result, with the findings as they are now, so that it
// agrees with the severity of the node between two runs too. For a skipped check only its own
// findings count.
[[nodiscard]] Verdict verdict_of(const CheckResult& newest, const State& state);

}  // namespace gpuward::exporter
