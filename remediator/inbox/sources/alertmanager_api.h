// Reads the firing alerts from an Alertmanager's own API. Only the API has the alerts that
// `max_alerts` has cut off a notification. Used by the webhook.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "remediator/inbox/sources/alertmanager_alerts.h"

namespace gpuward::remediator {

// The source of firing alerts. Tests implement it with a list.
class FiringAlerts {
 public:
  virtual ~FiringAlerts() = default;
  // Returns all firing alerts; `is_suppressed` is set for silenced or inhibited alerts.
  // Thread-safe.
  [[nodiscard]] virtual Result<std::vector<Alert>> read(std::chrono::milliseconds timeout) = 0;
};

class AlertmanagerApi final : public FiringAlerts {
 public:
  // `url` is the base URL of the Alertmanager (`http://alertmanager:9093`). `http` must outlive
  // this object.
  AlertmanagerApi(std::string url, http::Client& http);
  [[nodiscard]] Result<std::vector<Alert>> read(std::chrono::milliseconds timeout) override;

 private:
  std::string url_;
  http::Client& http_;
};

}  // namespace gpuward::remediator
