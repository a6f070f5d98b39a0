#include "remediator/inbox/sources/prometheus_query.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "core/kube/names.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr std::chrono::seconds kQuietAfterFailure{10};

}  // namespace

std::string query_part(const std::string& expression, std::string_view what) {
  return "label_replace(" + expression + ",\"what\",\"" + std::string(what) + "\",\"\",\"\")";
}

Result<const Json*> samples_of(const Result<Json>& root) {
  if (!root) return std::unexpected(root.error());
  const Json& samples = member_at(member_at(*root, "data"), "result");
  if (string_at(*root, "status") != "success" || !samples.is_array()) {
    return fail(ErrorKind::kInternal, "Prometheus did not return a query result");
  }
  return &samples;
}

Result<double> sample_value(const Json& sample) {
  const Json& pair = member_at(sample, "value");
  double value = 0;
  if (pair.is_array() && pair.size() == 2 && pair[1].is_string()) {
    const auto& text = pair[1].get_ref<const std::string&>();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value))
      return value;
  }
  return fail(ErrorKind::kInternal, "Prometheus answered with a sample that is not a number");
}

Clock::Wall time_of_sample(double seconds) {
  return Clock::Wall(
      std::chrono::duration_cast<Clock::Wall::duration>(std::chrono::duration<double>(seconds)));
}

PrometheusQuery::PrometheusQuery(std::string url, http::Client& http, Clock& clock,
                                 std::chrono::milliseconds timeout)
    : url_(std::move(url)), http_(http), clock_(clock), timeout_(timeout) {
  while (url_.ends_with('/')) url_.pop_back();
}

Result<std::string> PrometheusQuery::ask(const std::string& query, std::string_view about) {
  if (is_quiet())
    return fail(ErrorKind::kOverloaded,
                "Prometheus did not answer a moment ago and is not queried again yet");
  http::ClientRequest request;
  request.url = url_ + "/api/v1/query?query=" + kube::percent_encode(query);
  request.timeout = timeout_;
  request.max_response_bytes = 1U << 20U;
  auto response = http_.send(request);
  if (!response) {
    quiet_until_ = clock_.steady() + kQuietAfterFailure;
    return with_context(std::string(about), response.error());
  }
  if (response->status != 200) {
    return fail(ErrorKind::kUnavailable,
                std::string(about) + ": it answered " + std::to_string(response->status));
  }
  return std::move(response->body);
}

}  // namespace gpuward::remediator
