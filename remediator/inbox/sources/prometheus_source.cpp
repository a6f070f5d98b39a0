#include "remediator/inbox/sources/prometheus_source.h"

#include <set>
#include <utility>

#include "core/kube/names.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "remediator/policy/cluster_name.h"

namespace gpuward::remediator {
namespace {

Result<Alert> alert_of_series(const Json& sample, const PayloadLimits& limits) {
  const Json& labels = member_at(sample, "metric");
  if (!labels.is_object() || labels.size() > limits.max_labels) {
    return fail(ErrorKind::kInvalid, "an alert has no labels, or too many");
  }
  Alert alert;
  for (const auto& [key, value] : labels.items()) {
    if (!value.is_string() || value.get_ref<const std::string&>().size() > limits.max_label_bytes) {
      return fail(ErrorKind::kInvalid, "a label of an alert is not a string, or too long");
    }
    if (key != "__name__" && key != "alertstate") alert.labels[key] = value.get<std::string>();
  }
  alert.fingerprint = std::string(kPrometheusOrigin) + fingerprint_of(alert.labels);
  return alert;
}

// Returns the value of ALERTS_FOR_STATE: since when the alert's expression holds, in seconds.
std::optional<WallTime> start_of_series(const Json& sample) {
  if (string_at(member_at(sample, "metric"), "__name__") != "ALERTS_FOR_STATE") return std::nullopt;
  const Json& pair = member_at(sample, "value");
  if (!pair.is_array() || pair.size() != 2 || !pair[1].is_string()) return std::nullopt;
  const auto seconds = parse_integer<std::int64_t>(pair[1].get_ref<const std::string&>());
  if (!seconds || *seconds < 0 || *seconds > std::int64_t{1} << 33U) return std::nullopt;
  return WallTime(std::chrono::seconds(*seconds));
}

}  // namespace

std::string alerts_query(AskedAlerts asked, std::string_view cluster) {
  const auto selected = [&](std::string_view matcher) {
    return "ALERTS{alertstate=\"firing\"" + std::string(matcher) + cluster_matcher(cluster) + "}";
  };
  const std::string firing = asked == AskedAlerts::kAll
                                 ? selected("")
                                 : "(" + selected(",remediation!=\"\"") + " or " +
                                       selected(",drill_remediation!=\"\"") + ")";
  // Includes the start if it is known; matching ignores the metrics' names.
  return "(ALERTS_FOR_STATE and ignoring(alertstate) " + firing + ") or ignoring(alertstate) " +
         firing;
}

Result<FiringSeries> decode_alerts_series(std::string_view body) {
  const PayloadLimits limits;
  const auto root =
      parse_json(body, {.max_bytes = limits.max_bytes, .max_depth = limits.max_depth});
  if (!root) return std::unexpected(root.error());
  const Json& samples = member_at(member_at(*root, "data"), "result");
  if (string_at(*root, "status") != "success" || !samples.is_array()) {
    return fail(ErrorKind::kInternal, "Prometheus did not return a query result");
  }
  if (samples.size() > limits.max_alerts) {
    return fail(ErrorKind::kTooLarge, "more than " + std::to_string(limits.max_alerts) + " alerts");
  }
  FiringSeries series;
  series.is_whole = member_at(*root, "warnings").empty();
  for (const Json& sample : samples) {
    auto alert = alert_of_series(sample, limits);
    if (!alert) return std::unexpected(alert.error());
    const auto start = start_of_series(sample);
    if (!start) {
      ++series.without_start;
      continue;
    }
    alert->starts_at = *start;
    series.alerts.push_back(std::move(*alert));
  }
  return series;
}

PrometheusSource::PrometheusSource(PrometheusSourceOptions options, http::Client& http,
                                   const CurrentPolicy& policy, const KnownEvidence& known,
                                   Clock& clock)
    : options_(std::move(options)),
      http_(http),
      policy_(policy),
      known_(known),
      clock_(clock),
      absent_(options_.gone_for, options_.every) {
  while (options_.url.ends_with('/')) options_.url.pop_back();
}

Result<SourceFindings> PrometheusSource::look() {
  const auto policy = policy_.get();
  const bool asks_all = !policy->foreign_alerts.empty();
  const std::string query =
      alerts_query(asks_all ? AskedAlerts::kAll : AskedAlerts::kWithRemediation, policy->cluster);
  http::ClientRequest request;
  request.url = options_.url + "/api/v1/query?query=" + kube::percent_encode(query);
  request.timeout = options_.timeout;
  request.max_response_bytes = PayloadLimits().max_bytes;
  const auto response = http_.send(request);
  if (!response) return with_context("reading Prometheus' alerts", response.error());
  if (response->status != 200) {
    return fail(ErrorKind::kUnavailable,
                "reading Prometheus' alerts: it answered " + std::to_string(response->status));
  }
  const auto series = decode_alerts_series(response->body);
  if (!series) return with_context("reading Prometheus' alerts", series.error());
  SourceFindings findings;
  findings.read = series->alerts.size() + series->without_start;
  AlertRules rules = alert_rules_of(*policy);
  rules.kept_by_prometheus = true;
  AlertSignals taken = to_signals(series->alerts, rules);
  findings.signals = std::move(taken.signals);
  if (!taken.rejected.empty()) {
    findings.complaint =
        Error{ErrorKind::kInvalid, "reading Prometheus' alerts: " + taken.rejected.front().what};
  } else if (series->without_start > 0) {
    findings.complaint =
        Error{ErrorKind::kInvalid,
              "reading Prometheus' alerts: " + std::to_string(series->without_start) +
                  " ignored for lack of a matching ALERTS_FOR_STATE series"};
  } else if (series->is_whole) {
    std::set<std::string> firing;
    for (const Alert& alert : series->alerts) firing.insert(alert.fingerprint);
    for (AlertSignal& signal : absent_.ended(known_.firing_from(kPrometheusOrigin), firing, clock_))
      findings.signals.push_back(std::move(signal));
  }
  return findings;
}

}  // namespace gpuward::remediator
