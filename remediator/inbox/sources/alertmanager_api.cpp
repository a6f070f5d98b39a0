#include "remediator/inbox/sources/alertmanager_api.h"

#include <utility>

namespace gpuward::remediator {

AlertmanagerApi::AlertmanagerApi(std::string url, http::Client& http)
    : url_(std::move(url)), http_(http) {
  while (url_.ends_with('/')) url_.pop_back();
}

Result<std::vector<Alert>> AlertmanagerApi::read(std::chrono::milliseconds timeout) {
  const PayloadLimits limits;
  http::ClientRequest request;
  request.url = url_ + "/api/v2/alerts?active=true&silenced=true&inhibited=true";
  request.timeout = timeout;
  request.max_response_bytes = limits.max_bytes;
  const auto response = http_.send(request);
  if (!response) return with_context("reading Alertmanager's alerts", response.error());
  if (response->status != 200) {
    return fail(ErrorKind::kUnavailable,
                "reading Alertmanager's alerts: it answered " + std::to_string(response->status));
  }
  auto alerts = decode_active_alerts(response->body, limits);
  if (!alerts) return with_context("reading Alertmanager's alerts", alerts.error());
  return alerts;
}

}  // namespace gpuward::remediator
