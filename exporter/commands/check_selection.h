// The request of `gpuward-exporter check`: the flags, and the checks that they select. Pure; used
// by flags.cpp and the check command.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/command_line/output.h"
#include "core/model/result.h"
#include "exporter/checks/check/check.h"

namespace gpuward::exporter {

// Exactly one of `suite`, `check` and `is_prolog` is given.
struct CheckRequest {
  std::string suite{};  // "lightweight", "intensive"
  std::string check{};  // "4", "dcgm-l4", "4-dcgm-diag-l4"
  bool is_prolog = false;
  OutputFormat output = OutputFormat::kTable;
  bool is_exclusive = false;  // the caller guarantees that the node is idle
  bool is_dry_run = false;
  std::filesystem::path results_dir{};                 // empty: from the settings
  std::filesystem::path termination_log{};             // Kubernetes' terminationMessagePath
  std::optional<std::chrono::milliseconds> timeout{};  // of each check, over the settings
  // How long a check that loads the GPUs waits for another one on this node to end.
  std::chrono::milliseconds gpus_wait{0};
};

struct CheckSelection {
  std::string suite;  // "lightweight", "prolog", "single"
  std::vector<CheckEntry> checks;
  bool ends_at_first_failure = false;  // as in the replaced suite's quick suites
  bool admits_jobs = false;            // a reason against a job (CheckResult::no_job) fails
};

// kInvalid gives the fault of the request and the allowed values.
[[nodiscard]] Result<CheckSelection> select_checks(const CheckRequest& request,
                                                   std::span<const CheckEntry> all);

}  // namespace gpuward::exporter
