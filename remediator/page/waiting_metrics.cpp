#include "remediator/page/waiting_metrics.h"

#include <chrono>
#include <string>
#include <utility>

namespace gpuward::remediator {

using metrics::Family;
using metrics::Sample;
using metrics::Type;

void append_waiting(std::vector<Family>& families, std::span<const Waiting> waiting) {
  Family number{"gpuward_remediator_waiting",
                "Open Remediations without a step under way, by the rule that decided so",
                Type::kGauge,
                {}};
  Family since{"gpuward_remediator_waiting_since_timestamp_seconds",
               "Since when the one that has waited longest makes no progress",
               Type::kGauge,
               {}};
  for (const Waiting& one : waiting) {
    const decltype(Sample::labels) labels{{"phase", std::string(to_string(one.phase))},
                                          {"rule", one.rule}};
    number.samples.push_back({labels, static_cast<double>(one.number)});
    if (!one.since) continue;
    const std::chrono::duration<double> seconds = one.since->time_since_epoch();
    since.samples.push_back({labels, seconds.count()});
  }
  families.push_back(std::move(number));
  families.push_back(std::move(since));
}

}  // namespace gpuward::remediator
