// Queries Prometheus and Alertmanager about themselves: which exporters Prometheus reads, whether
// the rules are loaded, which nodes have a finding and an alert, and whether both answer. It
// changes nothing. Used by page/connection_watch.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "core/model/severity.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// The data of Prometheus about one node.
struct NodeSeries {
  bool has_target = false, is_up = false;
  bool lacks_series = false;            // it is up, but has no severity series
  Severity severity = Severity::kNone;  // from its exporter, now
  bool has_alert = false;               // a firing one that requests a Remediation
};

struct FleetSeries {
  std::map<std::string, NodeSeries, std::less<>> nodes;
  std::size_t unnamed = 0, other_jobs = 0;  // as in PrometheusFacts
  bool reads_remediator = false, heartbeat_fires = false;
};

// The PromQL for these series; `cluster` is the policy's.
[[nodiscard]] std::string fleet_series_query(std::string_view cluster);
// Decodes the answer of /api/v1/query to it.
[[nodiscard]] Result<FleetSeries> decode_fleet_series(std::string_view body);
// Decodes the answer of Prometheus' /api/v1/alertmanagers: the number of Alertmanagers that it
// sends to; nullopt if it does not say.
[[nodiscard]] std::optional<std::size_t> decode_alertmanagers(std::string_view body);
// Returns the label `node` of each alert in the answer of Alertmanager's /api/v2/alerts.
[[nodiscard]] Result<std::set<std::string>> decode_silenced(std::string_view body);

// One thread.
class ConnectionProbe {
 public:
  // The base URLs of both; an empty one is not configured. All must outlive it.
  ConnectionProbe(std::string prometheus_url, http::Client* prometheus,
                  std::string alertmanager_url, http::Client* alertmanager,
                  const CurrentPolicy& policy);

  [[nodiscard]] bool has_prometheus() const { return prometheus_ != nullptr; }
  [[nodiscard]] bool has_alertmanager() const { return alertmanager_ != nullptr; }
  // Call it only with a Prometheus.
  [[nodiscard]] Result<FleetSeries> ask_prometheus();
  // Returns the number of Alertmanagers that Prometheus sends to; nullopt if it does not say.
  [[nodiscard]] std::optional<std::size_t> ask_for_alertmanagers();
  // Call it only with an Alertmanager. Returns the nodes with a silenced alert that requests a
  // Remediation.
  [[nodiscard]] Result<std::set<std::string>> ask_alertmanager();

 private:
  [[nodiscard]] static Result<std::string> get(http::Client& client, std::string url,
                                               std::string_view about);

  std::string prometheus_url_, alertmanager_url_;
  http::Client *prometheus_, *alertmanager_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
