// Results in the form of the replaced suite: one JSON object of seven fields a check, in
// `check-<name>.json`, as a line of stdout and as a container's last words, and `summary.json` of a
// suite. Used by the runner and the check command.
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
  std::string instance_type;  // "unknown" is written where it is empty
};

// {"timestamp","hostname","instance_type","check","status","details","severity"}, in one line.
// Status PASS, WARN, FAIL, SKIP or ERROR; severity empty where there is none.
[[nodiscard]] std::string to_result_json(const ResultPlace& place, const CheckResult& result);
// The same in at most so many bytes, whole JSON still: the details are what is cut.
[[nodiscard]] std::string to_result_json_within(std::size_t max_bytes, const ResultPlace& place,
                                                CheckResult result);
// Each run of characters outside A-Za-z0-9._- becomes one `-`.
[[nodiscard]] std::string safe_name(std::string_view check);
// Atomically, mode 0644; makes the folder.
[[nodiscard]] Status write_result(const ResultPlace& place, const CheckResult& result);

struct SuiteSummary {
  std::string suite;
  std::size_t total_checks = 0;  // in the suite; fewer have results where one failure ended it
  std::vector<CheckResult> results;
  WallTime ended;
};
// The fields of the replaced suite, and the worst severity, which it left out.
[[nodiscard]] std::string to_summary_json(const ResultPlace& place, const SuiteSummary& summary);
[[nodiscard]] Status write_summary(const ResultPlace& place, const SuiteSummary& summary);

}  // namespace gpuward::exporter
