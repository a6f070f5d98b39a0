#include "remediator/notify/cloudwatch_logs_sink.h"

#include <chrono>
#include <string>
#include <utility>

#include "core/aws/client.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

// One stream for all replicas: CloudWatch Logs has not required a sequence token since 2023.
constexpr const char* kStream = "gpuward-remediator";

std::int64_t milliseconds_of(const std::string& timestamp) {
  const auto at = parse_rfc3339(timestamp).value_or(Clock::Wall{});
  return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

class CloudWatchLogsSink final : public Sink {
 public:
  CloudWatchLogsSink(SinkSettings settings, aws::AwsClient& aws)
      : settings_(std::move(settings)), aws_(aws) {}

  Status deliver(const NotificationEvent& event, const std::stop_token& stop) override {
    Status put = put_event(event, stop);
    if (put || put.error().kind != ErrorKind::kNotFound) return put;
    // The stream or the group is missing; a missing group fails here too. Another replica may have
    // created the stream meanwhile.
    const auto made = call("CreateLogStream", in_stream(), stop);
    if (!made && made.error().kind != ErrorKind::kConflict) return std::unexpected(made.error());
    return put_event(event, stop);
  }

 private:
  [[nodiscard]] Json in_stream() const {
    return {{"logGroupName", settings_.target}, {"logStreamName", kStream}};
  }

  [[nodiscard]] Result<http::ClientResponse> call(const std::string& action, const Json& body,
                                                  const std::stop_token& stop) {
    return aws_.call({.service = aws::kCloudWatchLogs,
                      .what = action,
                      .headers = {{"Content-Type", "application/x-amz-json-1.1"},
                                  {"X-Amz-Target", "Logs_20140328." + action}},
                      .body = dump_json(body),
                      .region = settings_.region,
                      .timeout = settings_.timeout,
                      .stop = stop});
  }

  [[nodiscard]] Status put_event(const NotificationEvent& event, const std::stop_token& stop) {
    Json body = in_stream();
    body["logEvents"] =
        Json::array({{{"timestamp", milliseconds_of(event.timestamp)},
                      {"message", to_event_json(event, text_of(event, settings_.text))}}});
    const auto answer = call("PutLogEvents", body, stop);
    if (!answer) return std::unexpected(answer.error());
    const auto json = parse_json(answer->body);
    // Comes with status 200: the event is older than 14 days or than the group's retention.
    if (json && json->contains("rejectedLogEventsInfo"))
      return fail(ErrorKind::kInvalid, "CloudWatch Logs does not accept events this old");
    return {};
  }

  const SinkSettings settings_;
  aws::AwsClient& aws_;
};

}  // namespace

Result<std::unique_ptr<Sink>> open_cloudwatch_logs_sink(const SinkSettings& settings,
                                                        const SinkServices& services) {
  return std::make_unique<CloudWatchLogsSink>(settings, services.aws);
}

}  // namespace gpuward::remediator
