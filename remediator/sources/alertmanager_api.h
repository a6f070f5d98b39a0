// Reads the firing alerts from an Alertmanager's own API, the only place that has the alerts that
// `max_alerts` has cut off a notification. Used by the webhook.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "remediator/sources/alertmanager_alerts.h"

namespace gpuward::remediator {

// The seam; tests put a list behind it.
class FiringAlerts {
 public:
  virtual ~FiringAlerts() = default;
  // Thread-safe. Returns all firing alerts; `is_suppressed` if they are silenced or inhibited.
  [[nodiscard]] virtual Result<std::vector<Alert>> read(std::chrono::milliseconds timeout) = 0;
};

class AlertmanagerApi final : public FiringAlerts {
 public:
  // `url` is the Alertmanager's base (`http://alertmanager:9093`); `http` must outlive this.
  AlertmanagerApi(std::string url, http::Client& http);
  [[nodiscard]] Result<std::vector<Alert>> read(std::chrono::milliseconds timeout) override;

 private:
  std::string url_;
  http::Client& http_;
};

}  // namespace gpuward::remediator
