#include "remediator/inbox/sources/triage_source.h"

#include <string>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

std::int64_t nanoseconds_since_1970(Clock::Wall at) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

}  // namespace

AlertSignal signal_of_finding(const TriageFinding& finding) {
  const std::string what = "triage " + finding.error_class;
  return {.node = finding.node,
          .severity = to_severity(finding.severity),
          .alertname = what,
          .fingerprint = std::string(kTriageOrigin) + short_hash(finding.node + '\n' + what),
          .firing = true,
          .starts_at = finding.at,
          .ends_at = {},
          .foreign = true,
          .error_class = finding.error_class,
          .advice = finding.advice};
}

Result<SourceFindings> TriageSource::look() {
  SourceFindings found;
  const auto findings = triage_.findings();
  taken_ = findings.size();
  found.read = findings.size();
  const auto quiet_for = policy_.get()->loki.quiet_for;
  for (const TriageFinding& finding : findings) {
    // Answered too late: the line has been quiet for as long as it takes to end a finding.
    if (clock_.wall() - finding.at >= quiet_for) continue;
    found.signals.push_back(signal_of_finding(finding));
    merge(last_lines_, {{found.signals.back().fingerprint, nanoseconds_since_1970(finding.at)}});
  }
  const QuietTime quiet{nanoseconds_since_1970(clock_.wall()), quiet_for, clock_.wall()};
  for (AlertSignal& signal : quiet_signals(known_.firing_from(kTriageOrigin), last_lines_, quiet))
    found.signals.push_back(std::move(signal));
  const auto oldest = quiet.now - std::chrono::nanoseconds(quiet_for).count();
  std::erase_if(last_lines_, [&](const auto& line) { return line.second < oldest; });
  return found;
}

Status TriageSource::settle() {
  triage_.forget(taken_);
  taken_ = 0;
  return {};
}

}  // namespace gpuward::remediator
