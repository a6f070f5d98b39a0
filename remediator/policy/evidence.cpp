#include "remediator/policy/evidence.h"

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

// Makes room for one more; false where all that is kept still fires.
bool make_room(std::vector<AlertEvidence>& alerts) {
  if (alerts.size() < kMaxEvidence) return true;
  auto oldest = alerts.end();
  for (auto it = alerts.begin(); it != alerts.end(); ++it) {
    if (it->firing()) continue;
    if (oldest == alerts.end() || *it->ended_at < *oldest->ended_at) oldest = it;
  }
  if (oldest == alerts.end()) return false;
  alerts.erase(oldest);
  return true;
}

Change raise(Remediation& remediation, Severity severity) {
  if (severity <= remediation.severity) return Change::kNone;
  remediation.severity = severity;
  return Change::kSome;
}

Change fold_firing(Remediation& remediation, const Order& order, WallTime now) {
  const Change raised = raise(remediation, order.severity);
  if (AlertEvidence* known = find(remediation, order.fingerprint)) {
    const bool worse = order.severity > known->severity;
    if (known->firing() && !worse) return raised;
    known->severity = std::max(known->severity, order.severity);
    if (!known->firing()) known->starts_at = order.starts_at;
    known->ended_at.reset();
    return Change::kSome;
  }
  if (!make_room(remediation.alerts)) return raised;
  remediation.alerts.push_back({order.alertname, order.fingerprint, order.severity, order.starts_at,
                                now, std::nullopt, order.foreign, order.error_class});
  return Change::kSome;
}

}  // namespace

std::string_view without_origin(std::string_view fingerprint) {
  if (fingerprint.starts_with(kPrometheusOrigin))
    fingerprint.remove_prefix(kPrometheusOrigin.size());
  return fingerprint;
}

Change fold(Remediation& remediation, const Order& order, WallTime now) {
  if (order.firing) return fold_firing(remediation, order, now);
  AlertEvidence* known = find(remediation, order.fingerprint);
  if (known == nullptr || !known->firing()) return Change::kNone;
  // An end in the future or before the start is somebody's broken clock: ours is as good.
  const bool believable = order.ends_at >= known->starts_at && order.ends_at <= now;
  known->ended_at = believable ? order.ends_at : now;
  return Change::kSome;
}

bool is_late_repeat(const Order& order, std::span<const Remediation> closed, WallTime now) {
  if (!order.firing) return false;
  for (const Remediation& remediation : closed) {
    for (const AlertEvidence& alert : remediation.alerts) {
      const bool is_over = remediation.status.phase == Phase::kCancelled ||
                           (alert.ended_at && now - *alert.ended_at < kLateRepeats);
      const bool is_same = without_origin(alert.fingerprint) == without_origin(order.fingerprint);
      if (is_over && is_same && order.starts_at <= alert.starts_at) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace gpuward::remediator
