#include "remediator/cluster/api_times.h"

#include <algorithm>
#include <array>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<const char*, 5> kVerbs = {"get", "post", "put", "patch", "delete"};
constexpr std::array<const char*, 5> kCodes = {"2xx", "3xx", "4xx", "5xx", "none"};

// Buckets from a server in the same network to the longest deadline of a client, that of an
// eviction.
metrics::Histogram no_times() { return metrics::Histogram({0.01, 0.05, 0.1, 0.5, 1, 5, 10, 35}); }

std::string code_of(const Result<http::ClientResponse>& answer) {
  return answer ? std::to_string(answer->status / 100) + "xx" : "none";
}

}  // namespace

ApiTimes::ApiTimes(http::Client& behind, Clock& clock) : behind_(behind), clock_(clock) {
  for (const char* verb : kVerbs) {
    for (const char* code : kCodes) times_.try_emplace({verb, code}, no_times());
  }
}

Result<http::ClientResponse> ApiTimes::send(const http::ClientRequest& request) {
  const auto began = clock_.steady();
  auto answer = behind_.send(request);
  const double seconds = std::chrono::duration<double>(clock_.steady() - began).count();
  const std::lock_guard lock(mutex_);
  times_.try_emplace({to_lower(request.method), code_of(answer)}, no_times())
      .first->second.observe(seconds);
  return answer;
}

Result<http::ClientResponse> ApiTimes::stream(
    const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
    const std::function<bool(std::string_view)>& on_bytes) {
  return behind_.stream(request, idle, std::move(stop), on_bytes);
}

metrics::Family ApiTimes::family() const {
  metrics::Family family{
      {"gpuward_remediator_api_request_duration_seconds",
       "Duration of requests to the API server, by HTTP method (`get`) and status class: `2xx` to "
       "`5xx`, or `none` if there was no response. Watches are not included.",
       metrics::Type::kHistogram,
       {"verb", "code"}}};
  const std::lock_guard lock(mutex_);
  for (const auto& [key, times] : times_) family.add({key.first, key.second}, times);
  return family;
}

}  // namespace gpuward::remediator
