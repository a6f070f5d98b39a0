// Which checks this image or node can run, by the programs that are there; nothing is started.
// Called when the exporter, a quarantine or a suite begins, and by `gpuward-exporter preflight`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/runtime/log.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/check/check_programs.h"

namespace gpuward::exporter {

struct Preflight {
  std::string check;  // its name
  FoundPrograms programs;
};

// One for each entry, in their order.
[[nodiscard]] std::vector<Preflight> preflight(std::span<const CheckEntry> checks,
                                               const CheckSettings& settings);

// One line: which can run, and which cannot for want of which program.
void log_preflight(std::span<const CheckEntry> checks, const CheckSettings& settings, Log& log);

}  // namespace gpuward::exporter
