#include "remediator/notify/lambda_sink.h"

#include <string>
#include <utility>

#include "core/aws/client.h"
#include "core/http/syntax/url.h"

namespace gpuward::remediator {
namespace {

class LambdaSink final : public Sink {
 public:
  LambdaSink(SinkSettings settings, aws::AwsClient& aws)
      : settings_(std::move(settings)), aws_(aws) {}

  Status deliver(const NotificationEvent& event, const std::stop_token& stop) override {
    const auto taken = aws_.call(
        {.service = aws::kLambda,
         .what = "Invoke",
         .path = "/2015-03-31/functions/" + http::encode_path_segment(settings_.target) +
                 "/invocations",
         .headers = {{"Content-Type", "application/json"}, {"X-Amz-Invocation-Type", "Event"}},
         .body = to_event_json(event, text_of(event, settings_.text)),
         .region = settings_.region,
         .timeout = settings_.timeout,
         .stop = stop});
    if (!taken) return std::unexpected(taken.error());
    return {};
  }

 private:
  const SinkSettings settings_;
  aws::AwsClient& aws_;
};

}  // namespace

Result<std::unique_ptr<Sink>> open_lambda_sink(const SinkSettings& settings,
                                               const SinkServices& services) {
  return std::make_unique<LambdaSink>(settings, services.aws);
}

}  // namespace gpuward::remediator
