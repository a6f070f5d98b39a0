#include "exporter/checks/result_files.h"

#include <algorithm>
#include <system_error>

#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

std::string severity_text(Severity severity) {
  return severity == Severity::kNone ? std::string() : to_upper(to_string(severity));
}

std::string type_text(const ResultPlace& place) {
  return place.instance_type.empty() ? std::string("unknown") : place.instance_type;
}

// Whole seconds, as in the replaced suite.
std::string stamp(WallTime time) {
  return to_rfc3339(std::chrono::floor<std::chrono::seconds>(time));
}

Status write(const ResultPlace& place, const std::string& name, const std::string& json) {
  std::error_code error;
  std::filesystem::create_directories(place.folder, error);
  if (error) {
    return fail(ErrorKind::kUnavailable, "cannot create the results folder " +
                                             place.folder.string() + ": " + error.message());
  }
  return write_file_atomically(place.folder / name, json + "\n");
}

}  // namespace

std::string to_result_json(const ResultPlace& place, const CheckResult& result) {
  return dump_json({{"timestamp", stamp(result.started + result.duration)},
                    {"hostname", place.host_name},
                    {"instance_type", type_text(place)},
                    {"check", result.check},
                    {"status", to_upper(to_string(result.status))},
                    {"details", result.details},
                    {"severity", severity_text(result.severity)}});
}

std::string to_result_json_within(std::size_t max_bytes, const ResultPlace& place,
                                  CheckResult result) {
  std::string json = to_result_json(place, result);
  while (json.size() > max_bytes && !result.details.empty()) {
    result.details = to_valid_utf8(result.details, result.details.size() / 2);
    json = to_result_json(place, result);
  }
  return json;
}

std::string safe_name(std::string_view check) {
  std::string name;
  for (const char c : check) {
    const bool is_safe = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    if (is_safe) {
      name += c;
    } else if (name.empty() || name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

Status write_result(const ResultPlace& place, const CheckResult& result) {
  return write(place, "check-" + safe_name(result.check) + ".json", to_result_json(place, result));
}

std::string to_summary_json(const ResultPlace& place, const SuiteSummary& summary) {
  Severity worst = Severity::kNone;
  for (const CheckResult& result : summary.results) worst = std::max(worst, result.severity);
  const auto failures =
      std::ranges::count(summary.results, CheckStatus::kFail, &CheckResult::status);
  return dump_json({{"timestamp", stamp(summary.ended)},
                    {"hostname", place.host_name},
                    {"instance_type", type_text(place)},
                    {"suite", summary.suite},
                    {"total_checks", summary.total_checks},
                    {"completed_checks", summary.results.size()},
                    {"failures", failures},
                    {"status", failures > 0 ? "FAIL" : "PASS"},
                    {"severity", severity_text(worst)},
                    {"results_dir", place.folder.string()}});
}

Status write_summary(const ResultPlace& place, const SuiteSummary& summary) {
  return write(place, "summary.json", to_summary_json(place, summary));
}

}  // namespace gpuward::exporter
