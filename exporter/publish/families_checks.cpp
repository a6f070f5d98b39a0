#include <array>

#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::Family;
using metrics::Type;

constexpr std::array kStatuses{CheckStatus::kPass, CheckStatus::kWarn, CheckStatus::kFail,
                               CheckStatus::kSkip, CheckStatus::kError};

}  // namespace

void append_check_families(const Snapshot& snapshot, Families& families) {
  Family status{"gpuward_check_status",
                "How the newest run of the check ended: 1 for that status, 0 for the others.",
                Type::kGauge,
                {}};
  Family severity{"gpuward_check_severity",
                  "Worst finding of the newest run: 0 none, 1 monitor, 2 reset, 3 reboot, 4 "
                  "isolate.",
                  Type::kGauge,
                  {}};
  Family duration{"gpuward_check_duration_seconds",
                  "How long the newest run of the check took.",
                  Type::kGauge,
                  {}};
  Family last_run{"gpuward_check_last_run_timestamp_seconds",
                  "When the newest run of the check began.",
                  Type::kGauge,
                  {}};
  for (const auto& [name, result] : snapshot.state.checks) {
    const Labels labels{{"check", name}};
    for (const CheckStatus one : kStatuses) {
      status.samples.push_back({{{"check", name}, {"status", std::string(to_string(one))}},
                                to_number(one == result.status)});
    }
    severity.samples.push_back({labels, static_cast<double>(result.severity)});
    duration.samples.push_back({labels, std::chrono::duration<double>(result.duration).count()});
    last_run.samples.push_back({labels, to_seconds(result.started)});
  }
  for (Family* family : {&status, &severity, &duration, &last_run}) {
    families.push_back(std::move(*family));
  }
}

}  // namespace gpuward::exporter
