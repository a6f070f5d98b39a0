// The metadata services of EC2, Compute Engine and Azure in memory behind the http::Client. They
// answer with the set data if the request has the header that each of them requires; otherwise with
// HTTP 404, or with their answer to a request without that header.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/client/client.h"

namespace gpuward::fakes {

inline constexpr std::string_view kScheduledPath = "/latest/meta-data/events/maintenance/scheduled";
inline constexpr std::string_view kSpotPath = "/latest/meta-data/spot/instance-action";
inline constexpr std::string_view kRebalancePath =
    "/latest/meta-data/events/recommendations/rebalance";
inline constexpr std::string_view kGceEventPath = "/computeMetadata/v1/instance/maintenance-event";
inline constexpr std::string_view kGceUpcomingPath =
    "/computeMetadata/v1/instance/upcoming-maintenance?alt=json";
inline constexpr std::string_view kGcePreemptedPath = "/computeMetadata/v1/instance/preempted";
inline constexpr std::string_view kAzureNamePath =
    "/metadata/instance/compute/name?api-version=2021-02-01&format=text";
inline constexpr std::string_view kAzureEventsPath =
    "/metadata/scheduledevents?api-version=2020-07-01";

// Any thread.
class FakeMetadata final : public http::Client {
 public:
  void set(std::string_view path, std::string body, int status = 200);
  void remove(std::string_view path);
  // Answers with this error until it is removed.
  void fail_with(std::optional<Error> error);

  Result<http::ClientResponse> send(const http::ClientRequest& request) override;
  Result<http::ClientResponse> stream(const http::ClientRequest& request, std::chrono::milliseconds,
                                      std::stop_token,
                                      const std::function<bool(std::string_view)>&) override {
    return send(request);
  }
  [[nodiscard]] std::vector<http::ClientRequest> asked() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::pair<int, std::string>, std::less<>> answers_;
  std::optional<Error> error_;
  std::vector<http::ClientRequest> asked_;
};

}  // namespace gpuward::fakes
