// Reads the firing alerts from Prometheus itself (the series ALERTS), for clusters without an
// Alertmanager. It handles the alerts like a webhook's alerts: same alert signals, same
// foreign_alerts, but no silences. An alert that has been absent from ALERTS for a while has ended;
// its end does not prove that the node is healthy.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/inbox/sources/absent_alerts.h"
#include "remediator/inbox/sources/alertmanager_alerts.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

struct PrometheusSourceOptions {
  std::string url;  // Base URL of Prometheus: `http://prometheus:9090`.
  std::chrono::milliseconds every{30'000};
  std::chrono::milliseconds timeout{10'000};
  // How long an alert must be absent before it counts as ended. A restarted Prometheus has no
  // alerts for a moment.
  std::chrono::milliseconds gone_for{300'000};
};

class PrometheusSource final : public Source {
 public:
  // The arguments must outlive the source.
  PrometheusSource(PrometheusSourceOptions options, http::Client& http, const CurrentPolicy& policy,
                   const KnownEvidence& known, Clock& clock);
  [[nodiscard]] std::string_view name() const override { return "prometheus"; }
  [[nodiscard]] std::chrono::milliseconds every() const override { return options_.every; }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  PrometheusSourceOptions options_;
  http::Client& http_;
  const CurrentPolicy& policy_;
  const KnownEvidence& known_;
  Clock& clock_;
  AbsentAlerts absent_;
};

struct FiringSeries {
  std::vector<Alert> alerts;
  // Number of ALERTS without ALERTS_FOR_STATE, so that the start is unknown.
  std::size_t without_start = 0;
  bool is_whole = true;  // False if the answer has warnings and may be incomplete.
};

// kAll: all firing alerts. kWithRemediation: only alerts that request a remediation by their label.
enum class AskedAlerts : std::uint8_t { kAll, kWithRemediation };
[[nodiscard]] std::string alerts_query(AskedAlerts asked, std::string_view cluster);

// Decodes the answer of /api/v1/query to alerts_query(). Returns kTooLarge over PayloadLimits.
[[nodiscard]] Result<FiringSeries> decode_alerts_series(std::string_view body);

}  // namespace gpuward::remediator
