// What `gpuward-exporter check` is asked to run: the command line's wishes, and the checks that
// they amount to. Pure; read by flags.cpp and the check command.
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
  bool is_exclusive = false;  // the caller vouches that the node is idle
  bool is_dry_run = false;
  std::filesystem::path results_dir{};                 // empty: as the settings say
  std::filesystem::path termination_log{};             // Kubernetes' terminationMessagePath
  std::optional<std::chrono::milliseconds> timeout{};  // of each check, whatever the settings say
  // How long a check that loads the GPUs waits for another one on this node to end.
  std::chrono::milliseconds gpus_wait{0};
};

struct CheckSelection {
  std::string suite;  // "lightweight", "prolog", "single"
  std::vector<CheckEntry> checks;
  bool ends_at_first_failure = false;  // as the replaced suite's quick suites do
  bool admits_jobs = false;            // what speaks against a job (CheckResult::no_job) fails
};

// kInvalid says what is wrong with the request, and what is allowed.
[[nodiscard]] Result<CheckSelection> select_checks(const CheckRequest& request,
                                                   std::span<const CheckEntry> all);

}  // namespace gpuward::exporter
