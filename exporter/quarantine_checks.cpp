#include "exporter/quarantine_checks.h"

#include <algorithm>
#include <optional>
#include <ostream>
#include <sstream>
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
    return fail(ErrorKind::kInvalid, "not a check's result: check, status and severity");
  result.status = *status;
  result.severity = *severity;
  result.details = string_at(*json, "details");
  return result;
}

RunCheck run_by_command(CheckByNumber command, std::ostream& out) {
  return [command = std::move(command), &out](int number,
                                              const std::stop_token& stop) -> Result<CheckResult> {
    std::stringstream printed;
    const int exit_code = command(number, stop, printed);
    out << printed.str() << std::flush;
    for (std::string line; std::getline(printed, line);) {
      if (auto result = parse_result_line(line)) return result;
    }
    return fail(ErrorKind::kInternal, "check " + std::to_string(number) + " ended with " +
                                          std::to_string(exit_code) + " and without a result");
  };
}

}  // namespace gpuward::exporter
