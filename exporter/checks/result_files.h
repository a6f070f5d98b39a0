// Results in the format of the replaced suite: one JSON object of seven fields for each check, in
// `check-<name>.json`, as a line of stdout and as a container's termination message, and
// `summary.json` for a suite. Used by the runner and the check command.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/check_result.h"
#include "core/model/result.h"

namespace gpuward::exporter {

struct ResultPlace {
  std::filesystem::path folder;  // RESULTS_DIR
  std::string host_name;
  std::string instance_type;  // if empty, "unknown" is written
};

// Returns {"timestamp","hostname","instance_type","check","status","details","severity"} in one
// line. The status is PASS, WARN, FAIL, SKIP or ERROR. The severity may be empty.
[[nodiscard]] std::string to_result_json(const ResultPlace& place, const CheckResult& result);
// Returns the same in at most `max_bytes`, still valid JSON: the details are shortened.
[[nodiscard]] std::string to_result_json_within(std::size_t max_bytes, const ResultPlace& place,
                                                CheckResult result);
// Replaces each run of characters outside A-Za-z0-9._- by one `-`.
[[nodiscard]] std::string safe_name(std::string_view check);
// Writes atomically with mode 0644, and creates the folder.
[[nodiscard]] Status write_result(const ResultPlace& place, const CheckResult& result);

struct SuiteSummary {
  std::string suite;
  std::size_t total_checks = 0;  // in the suite; fewer have results if a failure ended it early
  std::vector<CheckResult> results;
  WallTime ended;
};
// Returns the fields of the replaced suite, plus the worst severity, which that suite lacks.
[[nodiscard]] std::string to_summary_json(const ResultPlace& place, const SuiteSummary& summary);
[[nodiscard]] Status write_summary(const ResultPlace& place, const SuiteSummary& summary);

}  // namespace gpuward::exporter
