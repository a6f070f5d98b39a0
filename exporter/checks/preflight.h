// Which checks can run in this image or on this node, by the programs that are installed. Nothing
// is started. Called when the exporter, a quarantine or a suite starts, and by `gpuward-exporter
// preflight`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/runtime/log.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/check/check_programs.h"

namespace gpuward::exporter {

struct Preflight {
  std::string check;  // name of the check
  FoundPrograms programs;
};

// Returns one entry for each check, in their order.
[[nodiscard]] std::vector<Preflight> preflight(std::span<const CheckEntry> checks,
                                               const CheckSettings& settings);

// Logs one line: the checks that can run, and the missing programs of those that cannot.
void log_preflight(std::span<const CheckEntry> checks, const CheckSettings& settings, Log& log);

}  // namespace gpuward::exporter
