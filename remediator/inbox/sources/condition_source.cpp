#include "remediator/inbox/sources/condition_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "remediator/model/error_class.h"

namespace gpuward::remediator {
namespace {

// A restarted detector reports that all is healthy before it has checked.
constexpr std::chrono::minutes kHealthyFor{5};

// After a longer time without checks, another replica has led, or this one was suspended.
constexpr std::chrono::seconds kLongestGap{30};

// The transition time is that of the status; the reason may be newer.
bool has_counted_reason(const ConditionSeen& seen) {
  return !seen.rule.reasons.empty() && seen.status == seen.rule.status;
}

// A status from before the finding began is an old view of the node, and does not end it.
bool has_ended(const ConditionSeen& seen, const AlertSignal& known, WallTime now) {
  return seen.status != seen.rule.status && seen.status != "Unknown" &&
         seen.since >= known.starts_at && now - seen.since >= kHealthyFor;
}

AlertSignal signal_of_condition(const ConditionSeen& seen) {
  return {.node = seen.node,
          .severity = seen.rule.severity,
          .alertname = seen.rule.type + "=" + seen.rule.status,
          .fingerprint = fingerprint_of(seen.rule),
          .firing = true,
          .starts_at = seen.since,
          .ends_at = {},
          .foreign = true,
          .error_class = error_class_of({{"alertname", seen.rule.type}}, seen.rule.severity)};
}

}  // namespace

std::vector<ConditionSource::Remembered> ConditionSource::remembered(
    std::vector<ConditionSeen> conditions) {
  const auto now = clock_.steady();
  const bool is_current = nodes_.is_current(now);
  auto before = std::exchange(remembered_, {});
  if (!is_current || (looked_ && now - *looked_ > kLongestGap)) before.clear();
  looked_ = now;
  std::vector<Remembered> all;
  for (ConditionSeen& seen : conditions) {
    const std::pair key(seen.uid, fingerprint_of(seen.rule));
    const auto known = before.find(key);
    const bool is_known = known != before.end() && known->second.seen.status == seen.status;
    if (is_known) seen.since = std::min(seen.since, known->second.seen.since);
    WallTime counts_from = seen.since;
    if (has_counted_reason(seen))
      counts_from = is_known ? known->second.counts_from : std::max(seen.since, clock_.wall());
    all.push_back({std::move(seen), counts_from});
    if (is_current) remembered_.emplace(key, all.back());
  }
  return all;
}

Result<SourceFindings> ConditionSource::look() {
  const auto now = clock_.wall();
  const auto policy = policy_.get();
  const std::vector<Remembered> conditions = remembered(nodes_.conditions(policy->conditions));
  SourceFindings findings;
  findings.read = conditions.size();
  for (const auto& [seen, counts_from] : conditions) {
    if (seen.status == seen.rule.status && now - counts_from >= seen.rule.held_for)
      findings.signals.push_back(signal_of_condition(seen));
  }
  for (AlertSignal& signal : known_.firing_from(kConditionOrigin)) {
    const auto over = std::ranges::find_if(conditions, [&](const Remembered& one) {
      return one.seen.node == signal.node && fingerprint_of(one.seen.rule) == signal.fingerprint &&
             has_ended(one.seen, signal, now);
    });
    const bool is_over = over != conditions.end();
    // If no rule of the policy applies to the node any more, nothing but this ends the alert.
    if (!is_over && nodes_.is_ruled(signal.node, signal.fingerprint, policy->conditions)) continue;
    signal.firing = false;
    signal.ends_at = is_over ? over->seen.since : std::max(now, signal.starts_at);
    findings.signals.push_back(std::move(signal));
  }
  return findings;
}

}  // namespace gpuward::remediator
