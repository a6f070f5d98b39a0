// Findings of an earlier run that are still valid, for rules that need a second source only for the
// first report. Pure.
#pragma once

#include <algorithm>

#include "core/model/severity.h"
#include "exporter/checks/check/finding_codes.h"
#include "exporter/store/state.h"

namespace gpuward::exporter {

// Returns true if a finding of this code is above monitor and was last seen in this boot.
[[nodiscard]] inline bool stands_above_monitor(const State& state, Code code) {
  return std::ranges::any_of(state.findings, [&](const auto& entry) {
    const auto& [key, finding] = entry;
    return key.code == name_of(code) && finding.severity > Severity::kMonitor &&
           finding.last_boot_id == state.boot_id;
  });
}

}  // namespace gpuward::exporter
