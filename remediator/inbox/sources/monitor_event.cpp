#include "remediator/inbox/sources/monitor_event.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "core/kube/names.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/inbox/sources/quiet_evidence.h"

namespace gpuward::remediator {
namespace {

constexpr JsonLimits kSmall{.max_bytes = 64U << 10U, .max_depth = 4, .max_values = 64};

constexpr std::size_t kMostDigits = 10;
// The monitor's model found no number in the log.
constexpr std::string_view kNoNumber = "UNKNOWN";

struct ClassSeverity {
  std::string_view begin;            // of the class
  bool has_number = false;           // and a number or UNKNOWN, and nothing more
  std::optional<Severity> severity;  // none: nothing is wrong
};

constexpr std::array kClasses = {
    ClassSeverity{"XID_CRITICAL_", true, Severity::kReset},
    ClassSeverity{"XID_WARNING_", true, Severity::kMonitor},
    ClassSeverity{"XID_ERROR", false, Severity::kMonitor},
    ClassSeverity{"ECC_ERROR", false, Severity::kReset},
    ClassSeverity{"GPU_HEALTH_ERROR", false, Severity::kReset},
    ClassSeverity{"GPU_HEALTH_WARNING", false, Severity::kMonitor},
    ClassSeverity{"HEALTHY", false, std::nullopt},
};

bool is_of(const ClassSeverity& row, std::string_view text) {
  if (!row.has_number) return text == row.begin;
  if (!text.starts_with(row.begin)) return false;
  const std::string_view number = text.substr(row.begin.size());
  if (number == kNoNumber) return true;
  return number.size() <= kMostDigits && parse_integer<std::uint32_t>(number).has_value();
}

WallTime time_of(const Json& event, WallTime now) {
  return std::min(parse_rfc3339(string_at(event, "timestamp")).value_or(now), now);
}

// If the policy names no cluster, each event counts: the monitor always sends a name.
Result<bool> is_of_cluster(const Json& event, std::string_view cluster) {
  const std::string named = string_at(event, "cluster_name");
  if (!cluster.empty() && named.empty())
    return fail(ErrorKind::kInvalid, "cluster_name: missing, but the policy sets `cluster`");
  return cluster.empty() || named == cluster;
}

}  // namespace

Result<std::optional<AlertSignal>> signal_of_event(std::string_view body, WallTime now,
                                                   std::string_view cluster) {
  const auto event = parse_json(body, kSmall);
  if (!event) return fail(ErrorKind::kInvalid, event.error().message);
  if (!event->is_object()) return fail(ErrorKind::kInvalid, "expected an object");
  const std::string node = string_at(*event, "node_name");
  if (!kube::validate_node_name(node))
    return fail(ErrorKind::kInvalid, "node_name: must be the name of a node");
  const std::string error_class = string_at(*event, "error_type");
  const auto row = std::ranges::find_if(
      kClasses, [&](const ClassSeverity& one) { return is_of(one, error_class); });
  if (row == kClasses.end())
    return fail(ErrorKind::kInvalid, "error_type: must be one of the monitor's error classes");
  const auto is_ours = is_of_cluster(*event, cluster);
  if (!is_ours) return std::unexpected(is_ours.error());
  if (!row->severity || !*is_ours) return std::nullopt;
  const std::string what = "event " + error_class;
  AlertSignal signal;
  signal.node = node;
  signal.severity = *row->severity;
  signal.alertname = what;
  signal.fingerprint = std::string(kMonitorEventOrigin) + short_hash(node + '\n' + what);
  signal.starts_at = time_of(*event, now);
  signal.foreign = true;
  signal.error_class = error_class;
  return signal;
}

Result<SourceFindings> MonitorEventSource::look() {
  const auto now = clock_.wall();
  const auto since_1970 =
      std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  SourceFindings found;
  found.signals =
      quiet_signals(known_.firing_from(kMonitorEventOrigin), {},
                    {.now = since_1970, .after = policy_.get()->loki.quiet_for, .ended_at = now});
  found.read = found.signals.size();
  return found;
}

}  // namespace gpuward::remediator
