// Every code that the native checks can find: how bad it is, what takes it away, what it means. One
// table for the rules, for docs/checks.md (a test compares) and for whoever wonders. Pure data.
#pragma once

#include <span>
#include <string_view>

#include "core/model/finding.h"
#include "core/model/severity.h"

namespace gpuward::exporter {

struct FindingCode {
  std::string_view check;  // who finds it: "gpu", "2-efa-enumeration"
  std::string_view code;
  Severity severity = Severity::kMonitor;
  Severity seed_severity = Severity::kMonitor;  // with the seed profile
  ClearedBy cleared_by = ClearedBy::kCheck;
  std::string_view meaning;  // becomes Finding::why
};

// The name under which the rules on GPU readings keep their result and findings.
inline constexpr std::string_view kGpuCheck = "gpu";

[[nodiscard]] std::span<const FindingCode> finding_codes();

// nullptr where no check has it.
[[nodiscard]] const FindingCode* find_code(std::string_view code);

}  // namespace gpuward::exporter
