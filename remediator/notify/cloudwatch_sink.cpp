#include "remediator/notify/cloudwatch_sink.h"

#include <string>
#include <utility>

#include "core/aws/client.h"

namespace gpuward::remediator {
namespace {

const std::string kDatum = "MetricData.member.1.";

// CloudWatch refuses a dimension without a value, so an unknown one is "unknown".
void add_dimension(http::Query& query, int number, const std::string& name,
                   const std::string& value) {
  const std::string dimension = kDatum + "Dimensions.member." + std::to_string(number) + ".";
  query.emplace_back(dimension + "Name", name);
  query.emplace_back(dimension + "Value", value.empty() ? "unknown" : value);
}

class CloudWatchSink final : public Sink {
 public:
  CloudWatchSink(SinkSettings settings, aws::AwsClient& aws)
      : settings_(std::move(settings)), aws_(aws) {}

  Status deliver(const NotificationEvent& event, const std::stop_token& stop) override {
    http::Query query{{"Namespace", settings_.target},
                      {kDatum + "MetricName", "GPUErrorByType"},
                      {kDatum + "Timestamp", event.timestamp},
                      {kDatum + "Unit", "Count"},
                      {kDatum + "Value", "1"}};
    add_dimension(query, 1, "NodeName", event.node_name);
    add_dimension(query, 2, "InstanceId", event.instance_id);
    add_dimension(query, 3, "ErrorType", event.error_type);
    const auto put = aws_.query({.service = aws::kCloudWatch,
                                 .action = "PutMetricData",
                                 .version = "2010-08-01",
                                 .parameters = std::move(query),
                                 .region = settings_.region,
                                 .timeout = settings_.timeout,
                                 .stop = stop});
    if (!put) return std::unexpected(put.error());
    return {};
  }

 private:
  const SinkSettings settings_;
  aws::AwsClient& aws_;
};

}  // namespace

Result<std::unique_ptr<Sink>> open_cloudwatch_sink(const SinkSettings& settings,
                                                   const SinkServices& services) {
  return std::make_unique<CloudWatchSink>(settings, services.aws);
}

}  // namespace gpuward::remediator
