#include "exporter/commands/result_line.h"

#include <optional>
#include <string>
#include <utility>

#include "core/runtime/json.h"

namespace gpuward::exporter {
namespace {

std::optional<CheckStatus> parse_status(const std::string& text) {
  for (const auto& [word, status] :
       {std::pair("PASS", CheckStatus::kPass), std::pair("WARN", CheckStatus::kWarn),
        std::pair("FAIL", CheckStatus::kFail), std::pair("SKIP", CheckStatus::kSkip),
        std::pair("ERROR", CheckStatus::kError)}) {
    if (text == word) return status;
  }
  return std::nullopt;
}

}  // namespace

Result<CheckResult> parse_result_line(std::string_view line) {
  const auto json = parse_json(line);
  if (!json) return std::unexpected(json.error());
  const auto status = parse_status(string_at(*json, "status"));
  const std::string word = string_at(*json, "severity");
  const auto severity = word.empty() ? Severity::kNone : parse_severity(word);
  CheckResult result;
  result.check = string_at(*json, "check");
  if (!status || !severity || result.check.empty())
    return fail(ErrorKind::kInvalid,
                "not a check result: check, status or severity is missing or invalid");
  result.status = *status;
  result.severity = *severity;
  result.details = string_at(*json, "details");
  return result;
}

}  // namespace gpuward::exporter
