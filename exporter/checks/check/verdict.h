// How a check stands: the status that follows from its run and from the findings that it speaks
// for. Pure; used where a result is made (decide.h) and where results are published.
#pragma once

#include <string_view>

#include "core/model/check_result.h"
#include "exporter/store/state.h"

namespace gpuward::exporter {

struct Verdict {
  CheckStatus status = CheckStatus::kError;
  Severity severity = Severity::kNone;
};

// The status of a check by the worst of its findings: fails from reset up, warns for monitor. An
// error is an error and a skip a skip, but a failure beside it wins; a skip has no severity.
[[nodiscard]] Verdict verdict_at(CheckStatus run, Severity worst);

// Whether the result of `check` follows from that finding, which still stands: its own, and for
// check 0 also those of check "gpu" and what drivers and machine have logged. Programs, rules of
// the operator and announcements speak for themselves.
[[nodiscard]] bool speaks_for(std::string_view check, const Finding& finding);

// What is published of a check: its newest result by the findings as they are now, so that it
// agrees with the severity of the node also between two runs. One that was skipped speaks for its
// own findings alone.
[[nodiscard]] Verdict verdict_of(const CheckResult& newest, const State& state);

}  // namespace gpuward::exporter
