#include <array>

#include "exporter/checks/check/verdict.h"
#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;

constexpr std::array kStatuses{CheckStatus::kPass, CheckStatus::kWarn, CheckStatus::kFail,
                               CheckStatus::kSkip, CheckStatus::kError};
constexpr std::string_view kUntilRun = "until it has run";

}  // namespace

void append_check_families(const Snapshot& snapshot, Families& families) {
  auto& status = declare(families, {"gpuward_check_status",
                                    "1 for the status by the newest run and the findings since, 0 "
                                    "for the others: `pass`, `warn`, `fail`, `skip`, `error`.",
                                    kGauge,
                                    {"check", "status"},
                                    kUntilRun});
  auto& severity = declare(
      families,
      {"gpuward_check_severity", "Worst finding of the check now.", kGauge, {"check"}, kUntilRun});
  auto& duration = declare(families, {"gpuward_check_duration_seconds",
                                      "How long the newest run took.",
                                      kGauge,
                                      {"check"},
                                      kUntilRun});
  auto& last_run = declare(families, {"gpuward_check_last_run_timestamp_seconds",
                                      "When the newest run began. Alert on its age: a check may "
                                      "have stopped running.",
                                      kGauge,
                                      {"check"},
                                      kUntilRun});
  for (const auto& [name, result] : snapshot.state.checks) {
    const Verdict verdict = verdict_of(result, snapshot.state);
    for (const CheckStatus one : kStatuses)
      status.add({name, to_string(one)}, one == verdict.status);
    severity.add({name}, verdict.severity);
    duration.add({name}, result.duration);
    last_run.add({name}, result.started);
  }
}

}  // namespace gpuward::exporter
