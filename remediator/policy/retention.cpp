#include "remediator/policy/retention.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "remediator/model/history_alerts.h"

namespace gpuward::remediator {
namespace {

// If an alert fires when its Remediation is cancelled, it opens no other one while it keeps firing;
// a closed Remediation does not learn of its end. The alerts of a Node that is gone open no other.
bool holds_back_an_alert(const Remediation& one) {
  const Phase phase = one.status.phase;
  const bool is_node_gone = phase == Phase::kSuperseded || phase == Phase::kReplaced;
  return one.any_firing() && !is_node_gone;
}

// Returns whether it keeps a machine out of service, or shows that a returned machine is healthy.
bool speaks_of_a_machine(const Remediation& one) {
  return was_given_up(one) || std::ranges::any_of(one.alerts, is_of_history);
}

// When the oldest open Remediation began whose node may still be replaced: it has evicted pods.
std::optional<WallTime> oldest_that_waits(std::span<const Remediation> all) {
  std::optional<WallTime> oldest;
  for (const Remediation& one : all) {
    if (!one.open() || one.status.find(Step::kDrain) == nullptr) continue;
    const WallTime begun = one.created.value_or(WallTime());
    oldest = std::min(oldest.value_or(begun), begun);
  }
  return oldest;
}

bool is_recorded_only(const Remediation& one) { return one.severity <= Severity::kMonitor; }

}  // namespace

std::vector<const Remediation*> to_forget(std::span<const Remediation> all,
                                          const Retention& retention, WallTime now) {
  std::vector<const Remediation*> forget, counted;
  const auto waits_since = oldest_that_waits(all);
  for (const Remediation& one : all) {
    if (one.open() || one.deleting || !one.status.closed_at) continue;
    // Otherwise its replacement would count for another Remediation too.
    const bool is_replaced = one.status.phase == Phase::kReplaced;
    if (is_replaced && waits_since && *one.status.closed_at >= *waits_since) continue;
    const bool is_held = holds_back_an_alert(one);
    const auto longest = is_held ? kLongestHeld * retention.age : retention.age;
    const bool is_old = now - *one.status.closed_at > longest;
    if (is_old) forget.push_back(&one);
    if (!is_old && !is_held && !speaks_of_a_machine(one)) counted.push_back(&one);
  }
  const auto closed_at = [](const Remediation* one) { return *one->status.closed_at; };
  std::ranges::sort(forget, {}, closed_at);
  std::ranges::sort(counted, {}, [&](const Remediation* one) {
    return std::pair(!is_recorded_only(*one), closed_at(one));
  });
  const auto surplus =
      std::clamp<std::int64_t>(std::ssize(counted) - retention.most, 0, std::ssize(counted));
  forget.insert(forget.end(), counted.begin(), counted.begin() + surplus);
  if (forget.size() > kMostForgotten) forget.resize(kMostForgotten);
  return forget;
}

}  // namespace gpuward::remediator
