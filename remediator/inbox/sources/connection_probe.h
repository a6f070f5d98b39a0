// Queries Prometheus and Alertmanager about themselves: which exporters Prometheus reads, whether
// the rules are loaded, which nodes have a finding and an alert, and whether both servers answer.
// It changes no data. Used by inbox/connection_watch.
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
  bool lacks_series = false;            // The target is up, but has no severity series.
  Severity severity = Severity::kNone;  // Severity from the exporter now.
  bool has_alert = false;               // A firing alert requests a Remediation.
};

struct FleetSeries {
  std::map<std::string, NodeSeries, std::less<>> nodes;
  std::size_t unnamed = 0, other_jobs = 0;  // as in PrometheusFacts
  bool reads_remediator = false, heartbeat_fires = false;
};

// Returns the PromQL for these series. `cluster` is the policy's name of the cluster.
[[nodiscard]] std::string fleet_series_query(std::string_view cluster);
// Decodes the answer of /api/v1/query to fleet_series_query().
[[nodiscard]] Result<FleetSeries> decode_fleet_series(std::string_view body);
// Decodes the answer of Prometheus' /api/v1/alertmanagers. Returns the number of Alertmanagers that
// Prometheus sends to; nullopt if the answer has none.
[[nodiscard]] std::optional<std::size_t> decode_alertmanagers(std::string_view body);
// Returns the label `node` of each alert in the answer of Alertmanager's /api/v2/alerts.
[[nodiscard]] Result<std::set<std::string>> decode_silenced(std::string_view body);

// Sends the queries. One thread.
class ConnectionProbe {
 public:
  // Takes the base URLs of both servers; an empty URL is not configured. The arguments must outlive
  // the probe.
  ConnectionProbe(std::string prometheus_url, http::Client* prometheus,
                  std::string alertmanager_url, http::Client* alertmanager,
                  const CurrentPolicy& policy);

  [[nodiscard]] bool has_prometheus() const { return prometheus_ != nullptr; }
  [[nodiscard]] bool has_alertmanager() const { return alertmanager_ != nullptr; }
  // Requires: has_prometheus().
  [[nodiscard]] Result<FleetSeries> ask_prometheus();
  // Returns the number of Alertmanagers that Prometheus sends to; nullopt if Prometheus does not
  // report it.
  [[nodiscard]] std::optional<std::size_t> ask_for_alertmanagers();
  // Returns the nodes with a silenced alert that requests a Remediation. Requires:
  // has_alertmanager().
  [[nodiscard]] Result<std::set<std::string>> ask_alertmanager();

 private:
  [[nodiscard]] static Result<std::string> get(http::Client& client, std::string url,
                                               std::string_view about);

  std::string prometheus_url_, alertmanager_url_;
  http::Client *prometheus_, *alertmanager_;
  const CurrentPolicy& policy_;
};

}  // namespace gpuward::remediator
