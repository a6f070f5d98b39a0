#include "remediator/page/source_metrics.h"

#include <string>
#include <utility>

namespace gpuward::remediator {
namespace {

using metrics::Family;
using metrics::Type;

Family source_family(const std::string& what, std::string help, Type type) {
  return {"gpuward_remediator_source_" + what, std::move(help), type, {}};
}

}  // namespace

void append_sources(std::vector<Family>& families, std::span<const SourceCounts> sources) {
  Family errors = source_family("errors_total", "Looks of a source that failed", Type::kCounter);
  Family read = source_family("read_total", "Alerts, conditions or lines that a source has read",
                              Type::kCounter);
  Family findings = source_family(
      "findings_total", "What of it was new about a node and is recorded", Type::kCounter);
  Family success = source_family("last_success_timestamp_seconds",
                                 "When a source was last read without an error", Type::kGauge);
  Family lag =
      source_family("lag_seconds", "How far what a source has read is behind now", Type::kGauge);
  for (const SourceCounts& source : sources) {
    const decltype(metrics::Sample::labels) labels{{"source", source.name}};
    errors.samples.push_back({labels, static_cast<double>(source.errors)});
    read.samples.push_back({labels, static_cast<double>(source.read)});
    findings.samples.push_back({labels, static_cast<double>(source.findings)});
    if (source.last_success) {
      const std::chrono::duration<double> since = source.last_success->time_since_epoch();
      success.samples.push_back({labels, since.count()});
    }
    if (source.lag) lag.samples.push_back({labels, static_cast<double>(source.lag->count())});
  }
  for (Family* family : {&errors, &read, &findings, &success, &lag})
    families.push_back(std::move(*family));
}

}  // namespace gpuward::remediator
