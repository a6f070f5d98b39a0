#include "remediator/inbox/sources/connection_probe.h"

#include <utility>

#include "core/kube/names.h"
#include "core/runtime/json.h"
#include "remediator/inbox/sources/connections.h"
#include "remediator/inbox/sources/prometheus_query.h"
#include "remediator/policy/cluster_name.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kTimeout{5};
// 20,000 nodes are 2 MB.
constexpr std::size_t kMaxAnswer = 6U << 20U;
constexpr std::string_view kOrders = "remediation=~\"isolate|reboot|reset|monitor\"";

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

void add_of_fleet(std::string_view what, double value, FleetSeries& series) {
  const auto count = value > 0 && value < 1e6 ? static_cast<std::size_t>(value) : 0;
  if (what == "unnamed") series.unnamed = count;
  if (what == "other_jobs") series.other_jobs = count;
  if (what == "remediator") series.reads_remediator = true;
  if (what == "heartbeat") series.heartbeat_fires = true;
}

void add_of_node(std::string_view what, double value, NodeSeries& node) {
  if (what == "up") {
    node.has_target = true;
    node.is_up = value >= 1;
  } else if (what == "mute") {
    node.lacks_series = true;
  } else if (what == "severity" && value >= 0 && value <= 4) {
    node.severity = static_cast<Severity>(value);
  } else if (what == "alert") {
    node.has_alert = true;
  }
}

}  // namespace

std::string fleet_series_query(std::string_view cluster) {
  const std::string of_cluster = cluster_matcher(cluster);
  const std::string exporters = "{job=\"gpuward-exporter\",node!=\"\"" + of_cluster + "}";
  const std::string severity = "gpuward_node_severity";
  return query_part("max by (node) (up" + exporters + ")", "up") + " or " +
         query_part(
             "max by (node) (up" + exporters + "==1 unless on (node) " + severity + exporters + ")",
             "mute") +
         " or " + query_part("max by (node) (" + severity + exporters + ")>0", "severity") +
         " or " +
         query_part("count by (node) (ALERTS{alertstate=\"firing\",node!=\"\"," +
                        std::string(kOrders) + of_cluster + "})",
                    "alert") +
         " or " +
         query_part("count(up{job=\"gpuward-exporter\",node=\"\"" + of_cluster + "})", "unnamed") +
         " or " +
         query_part("count(" + severity + "{job!=\"gpuward-exporter\"" + of_cluster + "})",
                    "other_jobs") +
         " or " +
         query_part("count(gpuward_remediator_leads{job!=\"\"" + of_cluster + "})", "remediator") +
         " or " +
         query_part("count(ALERTS{alertname=\"" + std::string(kHeartbeatAlert) +
                        "\",alertstate=\"firing\"" + of_cluster + "})",
                    "heartbeat");
}

Result<FleetSeries> decode_fleet_series(std::string_view body) {
  const auto root = parse_json(body, {.max_bytes = kMaxAnswer, .max_depth = 12});
  const auto samples = samples_of(root);
  if (!samples) return std::unexpected(samples.error());
  FleetSeries series;
  for (const Json& sample : **samples) {
    const auto value = sample_value(sample);
    if (!value) return std::unexpected(value.error());
    const Json& labels = member_at(sample, "metric");
    const std::string node = string_at(labels, "node");
    if (node.empty()) {
      add_of_fleet(string_at(labels, "what"), *value, series);
    } else {
      add_of_node(string_at(labels, "what"), *value, series.nodes[node]);
    }
  }
  return series;
}

std::optional<std::size_t> decode_alertmanagers(std::string_view body) {
  const auto root = parse_json(body, {.max_bytes = 1U << 20U, .max_depth = 8});
  if (!root) return std::nullopt;
  const Json& active = member_at(member_at(*root, "data"), "activeAlertmanagers");
  return active.is_array() ? std::optional(active.size()) : std::nullopt;
}

Result<std::set<std::string>> decode_silenced(std::string_view body) {
  const auto root = parse_json(body, {.max_bytes = kMaxAnswer, .max_depth = 8});
  if (!root) return std::unexpected(root.error());
  if (!root->is_array()) return fail(ErrorKind::kInternal, "Alertmanager's answer is not a list");
  std::set<std::string> nodes;
  for (const Json& alert : *root) {
    const std::string node = string_at(member_at(alert, "labels"), "node");
    if (!node.empty()) nodes.insert(node);
  }
  return nodes;
}

ConnectionProbe::ConnectionProbe(std::string prometheus_url, http::Client* prometheus,
                                 std::string alertmanager_url, http::Client* alertmanager,
                                 const CurrentPolicy& policy)
    : prometheus_url_(without_slash(std::move(prometheus_url))),
      alertmanager_url_(without_slash(std::move(alertmanager_url))),
      prometheus_(prometheus_url_.empty() ? nullptr : prometheus),
      alertmanager_(alertmanager_url_.empty() ? nullptr : alertmanager),
      policy_(policy) {}

Result<std::string> ConnectionProbe::get(http::Client& client, std::string url,
                                         std::string_view about) {
  http::ClientRequest request;
  request.url = std::move(url);
  request.timeout = kTimeout;
  request.max_response_bytes = kMaxAnswer;
  auto response = client.send(request);
  if (!response) return with_context(std::string(about), response.error());
  if (response->status != 200)
    return fail(ErrorKind::kUnavailable,
                std::string(about) + ": it answered " + std::to_string(response->status));
  return std::move(response->body);
}

Result<FleetSeries> ConnectionProbe::ask_prometheus() {
  const std::string query = fleet_series_query(policy_.get()->cluster);
  const auto body =
      get(*prometheus_, prometheus_url_ + "/api/v1/query?query=" + kube::percent_encode(query),
          "asking Prometheus for its targets");
  if (!body) return std::unexpected(body.error());
  return decode_fleet_series(*body);
}

std::optional<std::size_t> ConnectionProbe::ask_for_alertmanagers() {
  const auto body = get(*prometheus_, prometheus_url_ + "/api/v1/alertmanagers", "alertmanagers");
  return body ? decode_alertmanagers(*body) : std::nullopt;
}

Result<std::set<std::string>> ConnectionProbe::ask_alertmanager() {
  const auto body = get(*alertmanager_,
                        alertmanager_url_ +
                            "/api/v2/alerts?active=false&silenced=true&inhibited=false"
                            "&unprocessed=false&filter=remediation!%3D%22%22",
                        "asking Alertmanager for silenced alerts");
  if (!body) return std::unexpected(body.error());
  return decode_silenced(*body);
}

}  // namespace gpuward::remediator
