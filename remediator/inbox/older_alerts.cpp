#include "remediator/inbox/older_alerts.h"

#include "remediator/cluster/view_queries.h"
#include "remediator/inbox/remediation_intake.h"

namespace gpuward::remediator {

Result<IntakeCounts> OlderAlerts::take(std::span<const AlertSignal> signals,
                                       Clock::Steady deadline) {
  const Clock::Steady begin = clock_.steady();
  const Clock::Steady until = begin + (deadline - begin) / 2;
  std::vector<AlertSignal> told(signals.begin(), signals.end());
  for (AlertSignal& signal : told) {
    if (reports_ == nullptr || clock_.steady() >= until) break;
    if (!signal.is_of_this_machine && is_unexplained(signal))
      signal.is_of_this_machine = is_measured(signal);
  }
  return intake_.take(told, deadline);
}

bool OlderAlerts::is_unexplained(const AlertSignal& signal) const {
  const auto node = identity_in(view_, signal.node);
  return node && is_older_than_node(signal, *node) && earlier_of(view_, *node).empty();
}

bool OlderAlerts::is_measured(const AlertSignal& signal) const {
  const auto node = last_node(view_, signal.node);
  const auto report = reports_->latest(signal.node);
  if (node == nullptr || !report) return false;
  return !objection_to_disruption(
      *report, *node, signal.severity,
      {.after = {}, .max_age = policy_.get()->max_evidence_age, .now = clock_.wall()});
}

}  // namespace gpuward::remediator
