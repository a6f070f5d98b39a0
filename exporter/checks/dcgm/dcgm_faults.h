// What a report of DCGM's diagnostics amounts to: which GPUs have which severity, and whether that
// can be decided at all. Pure. Used by checks 1 and 4.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/finding.h"
#include "core/model/severity.h"
#include "exporter/checks/dcgm/dcgm_diagnostic.h"

namespace gpuward::exporter {

struct DcgmFault {
  std::optional<int> gpu;  // DCGM's number; nullopt: the node, or another of its parts
  std::string code;        // "memory/52": the test and DCGM's error; "memory" where it has none
  Severity severity = Severity::kMonitor;
  ClearedBy cleared_by = ClearedBy::kDiagnostics;
  std::string line;  // what DCGM said
  std::string why;
};

struct DcgmSeverities {
  Severity bare_fail = Severity::kReset;  // of a Fail without an error
  // With the seed profile: the severity of each Fail, regardless of its error.
  std::optional<Severity> each_fail = std::nullopt;
};

struct DcgmFaults {
  std::vector<DcgmFault> faults;
  // Why it is unknown whether that is all; empty where it can. Never a pass.
  std::string undecided;
  std::set<int> tested;  // GPUs on which a test of the hardware has run to its end
  unsigned passed = 0, warned = 0, failed = 0, skipped = 0;  // results
};

// `exit_code` is dcgmi's own, held against the report: 205 says that something must be isolated,
// 226 that something has failed.
[[nodiscard]] DcgmFaults judge_dcgm_diagnostic(const DcgmDiagnostic& report, int exit_code,
                                               const DcgmSeverities& severities);

// Why DCGM would not run, where its error says that it could not be asked now or here: it is
// paused, another diagnostic runs, GPUs of several kinds. nullopt for anything else.
[[nodiscard]] std::optional<std::string> dcgm_refusal(const std::string& runtime_error,
                                                      int exit_code);

}  // namespace gpuward::exporter
