// Sends one instant query to Prometheus, and has the common parts of all readers of the answers.
// Each sample of an answer has a label `what`, which names its part of the query. A Prometheus that
// did not answer is not queried again for a while. Used by prometheus_reports and
// prometheus_scrapes.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "core/runtime/json_fwd.h"

namespace gpuward::remediator {

// Returns `expression` with the label `what`. An instant query drops the metric's name if
// timestamp() is applied, and does not return a sample's own time otherwise.
[[nodiscard]] std::string query_part(const std::string& expression, std::string_view what);

// Returns the samples of an answer, which must outlive them.
[[nodiscard]] Result<const Json*> samples_of(const Result<Json>& root);
[[nodiscard]] Result<double> sample_value(const Json& sample);
[[nodiscard]] Clock::Wall time_of_sample(double seconds);

// Thread-safe.
class PrometheusQuery {
 public:
  // `url` is the base URL of Prometheus (`http://prometheus:9090`). `http` and `clock` must outlive
  // this object.
  PrometheusQuery(std::string url, http::Client& http, Clock& clock,
                  std::chrono::milliseconds timeout);
  // Returns the body of the answer. Returns kOverloaded if Prometheus failed to answer a moment ago
  // and was not queried. Each error contains `about`.
  [[nodiscard]] Result<std::string> ask(const std::string& query, std::string_view about);
  // Returns whether Prometheus failed to answer a moment ago.
  [[nodiscard]] bool is_quiet() const { return clock_.steady() < quiet_until_.load(); }

 private:
  std::string url_;
  http::Client& http_;
  Clock& clock_;
  std::chrono::milliseconds timeout_;
  std::atomic<Clock::Steady> quiet_until_{Clock::Steady::min()};
};

}  // namespace gpuward::remediator
