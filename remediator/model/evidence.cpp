#include "remediator/model/evidence.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

AlertEvidence* find(Remediation& remediation, const std::string& fingerprint) {
  const auto found = std::find_if(
      remediation.alerts.begin(), remediation.alerts.end(), [&](const AlertEvidence& alert) {
        return without_origin(alert.fingerprint) == without_origin(fingerprint);
      });
  return found == remediation.alerts.end() ? nullptr : &*found;
}

Change raise(Remediation& remediation, const AlertSignal& signal) {
  const bool is_drill = remediation.alerts.empty() ? signal.drill : remediation.is_drill();
  if (signal.drill && !is_drill) return Change::kNone;
  const bool turns_real = is_drill && !signal.drill;
  if (!turns_real && signal.severity <= remediation.severity) return Change::kNone;
  remediation.severity = signal.severity;
  return Change::kSome;
}

Change note_dropped(Remediation& remediation, Severity severity, WallTime now) {
  auto& dropped = remediation.dropped;
  const bool is_known =
      dropped && severity <= dropped->severity && now - dropped->at < kDroppedAgain;
  if (is_known) return Change::kNone;
  dropped = {.severity = std::max(severity, dropped ? dropped->severity : Severity::kNone),
             .at = now};
  return Change::kSome;
}

// Returns the alert to drop for one of that severity; null if none may be dropped.
const AlertEvidence* who_gives_way(const std::vector<AlertEvidence>& alerts, Severity severity) {
  const AlertEvidence* oldest = nullptr;
  const AlertEvidence* mildest = nullptr;
  for (const AlertEvidence& alert : alerts) {
    if (alert.firing()) {
      if (mildest == nullptr || alert.severity < mildest->severity) mildest = &alert;
    } else if (oldest == nullptr || *alert.ended_at < *oldest->ended_at) {
      oldest = &alert;
    }
  }
  if (oldest != nullptr) return oldest;
  return mildest != nullptr && mildest->severity < severity ? mildest : nullptr;
}

Folded add(Remediation& remediation, const AlertSignal& signal, WallTime now) {
  auto& alerts = remediation.alerts;
  Folded folded{.change = raise(remediation, signal)};
  const bool is_full = alerts.size() >= kMaxEvidence;
  if (is_full && signal.drill) return {.change = folded.change, .ignored = Ignored::kNoRoom};
  const auto drill = std::ranges::find_if(alerts, &AlertEvidence::drill);
  if (is_full && drill != alerts.end()) {
    alerts.erase(drill);
  } else if (is_full) {
    const AlertEvidence* leaves = who_gives_way(alerts, signal.severity);
    folded.displaced = leaves != nullptr && leaves->firing();
    if (leaves == nullptr || folded.displaced) {
      const Severity dropped = leaves == nullptr ? signal.severity : leaves->severity;
      folded.change = std::max(folded.change, note_dropped(remediation, dropped, now));
    }
    if (leaves == nullptr) {
      folded.ignored = Ignored::kNoRoom;
      return folded;
    }
    alerts.erase(alerts.begin() + (leaves - alerts.data()));
  }
  alerts.push_back({signal.alertname, signal.fingerprint, signal.severity, signal.starts_at, now,
                    std::nullopt, signal.foreign, signal.error_class});
  alerts.back().advice = signal.advice;
  alerts.back().drill = signal.drill;
  folded.change = Change::kSome;
  return folded;
}

bool is_shortly_after(WallTime end, WallTime now) {
  return now - end < kLateRepeats && end - now < kLateRepeats;
}

// An Alertmanager's end can arrive late, and an event is over only when no repeat comes: for both
// the latest start counts. The other sources (loki., condition., ...) end their alerts by our
// clock, and each of their lines is a start of its own.
bool counts_by_latest_start(std::string_view fingerprint) {
  return fingerprint.starts_with(kMonitorEventOrigin) || !without_origin(fingerprint).contains('.');
}

bool is_comparable(WallTime start, WallTime now) { return start - now <= kWrongClock; }

Folded fold_firing(Remediation& remediation, const AlertSignal& signal, WallTime now) {
  AlertEvidence* known = find(remediation, signal.fingerprint);
  if (known == nullptr) return add(remediation, signal, now);
  const bool is_anew = has_started_anew(signal, *known);
  if (!known->firing() && !is_anew && is_shortly_after(*known->ended_at, now))
    return {.change = Change::kNone, .ignored = Ignored::kLateRepeat};
  AlertEvidence next = *known;
  next.severity = std::max(known->severity, signal.severity);
  // A sender of notifications chooses the fingerprint. An alert without the drill label is real.
  next.drill = known->drill && signal.drill;
  next.foreign = known->foreign && signal.foreign;
  const bool is_later = !known->firing() || (counts_by_latest_start(signal.fingerprint) &&
                                             is_comparable(signal.starts_at, now));
  if (is_anew && is_later) next.starts_at = signal.starts_at;
  if (is_anew && is_later && !signal.advice.empty()) next.advice = signal.advice;
  if (!known->firing()) next.contested = !is_anew;
  next.ended_at.reset();
  const Change raised = raise(remediation, signal);
  if (next == *known) return {.change = raised};
  *known = std::move(next);
  return {.change = Change::kSome};
}

Folded fold_resolved(Remediation& remediation, const AlertSignal& signal, WallTime now) {
  AlertEvidence* known = find(remediation, signal.fingerprint);
  if (known == nullptr) return {};
  const bool is_said = signal.ends_at > WallTime();
  if (!known->firing()) {
    // Its firing was never received, or arrives later.
    const bool is_later = has_started_anew(signal, *known) && signal.ends_at > *known->ended_at;
    if (!is_later || signal.ends_at > now) return {};
    known->starts_at = signal.starts_at;
    known->ended_at = signal.ends_at;
    known->contested = false;
    return {.change = Change::kSome};
  }
  // One evaluation of the rule may end an episode and start the next.
  const bool is_next = signal.ends_at == known->starts_at && signal.starts_at < known->starts_at;
  const bool is_before = is_said && (signal.ends_at < known->starts_at || is_next);
  const bool is_of_earlier = signal.absent && signal.starts_at < known->starts_at;
  if (is_of_earlier || (is_before && is_comparable(known->starts_at, now)))
    return {.change = Change::kNone, .ignored = Ignored::kEarlierEpisode};
  const bool is_believable = is_said && signal.ends_at >= known->starts_at && signal.ends_at <= now;
  known->ended_at = is_believable ? signal.ends_at : now;
  return {.change = Change::kSome};
}

}  // namespace

std::string_view without_origin(std::string_view fingerprint) {
  if (fingerprint.starts_with(kPrometheusOrigin))
    fingerprint.remove_prefix(kPrometheusOrigin.size());
  return fingerprint;
}

bool has_started_anew(const AlertSignal& signal, const AlertEvidence& known) {
  using std::chrono::milliseconds;
  const bool is_cut = std::chrono::floor<milliseconds>(known.starts_at) == known.starts_at;
  const WallTime start =
      is_cut ? WallTime(std::chrono::floor<milliseconds>(signal.starts_at)) : signal.starts_at;
  return start > known.starts_at;
}

bool is_same_episode(const AlertSignal& signal, const AlertEvidence& known) {
  return without_origin(signal.fingerprint) == without_origin(known.fingerprint) &&
         !has_started_anew(signal, known);
}

Folded fold(Remediation& remediation, const AlertSignal& signal, WallTime now) {
  return signal.firing ? fold_firing(remediation, signal, now)
                       : fold_resolved(remediation, signal, now);
}

bool is_late_repeat(const AlertSignal& signal, std::span<const Remediation> closed, WallTime now) {
  if (!signal.firing) return false;
  for (const Remediation& remediation : closed) {
    for (const AlertEvidence& alert : remediation.alerts) {
      const bool is_over = remediation.status.phase == Phase::kCancelled ||
                           (alert.ended_at && is_shortly_after(*alert.ended_at, now));
      if (is_over && is_same_episode(signal, alert)) return true;
    }
  }
  return false;
}

}  // namespace gpuward::remediator
