// The host of each AWS service and the name under which its requests are signed. Used by AwsClient
// and its callers.
#pragma once

#include <string>
#include <string_view>

#include "core/aws/environment.h"
#include "core/model/result.h"

namespace gpuward::aws {

struct AwsService {
  std::string_view title;     // in messages
  std::string_view host;      // the first label of its host
  std::string_view signing;   // its name in the scope of a signature
  std::string_view variable;  // AWS_ENDPOINT_URL_<variable>
};

inline constexpr AwsService kEc2{"EC2", "ec2", "ec2", "EC2"};
inline constexpr AwsService kAutoScaling{"Auto Scaling", "autoscaling", "autoscaling",
                                         "AUTO_SCALING"};
inline constexpr AwsService kSts{"STS", "sts", "sts", "STS"};
inline constexpr AwsService kSns{"SNS", "sns", "sns", "SNS"};
inline constexpr AwsService kS3{"S3", "s3", "s3", "S3"};
inline constexpr AwsService kLambda{"Lambda", "lambda", "lambda", "LAMBDA"};
inline constexpr AwsService kCloudWatch{"CloudWatch", "monitoring", "monitoring", "CLOUDWATCH"};
inline constexpr AwsService kCloudWatchLogs{"CloudWatch Logs", "logs", "logs", "CLOUDWATCH_LOGS"};
inline constexpr AwsService kBedrockRuntime{"Bedrock", "bedrock-runtime", "bedrock",
                                            "BEDROCK_RUNTIME"};

// Whether `text` may be part of a host's name: "eu-west-1".
[[nodiscard]] bool is_region(std::string_view text);

// Whether AWS_ENDPOINT_URL_EC2 or AWS_ENDPOINT_URL sets the endpoint of the service.
[[nodiscard]] bool has_own_endpoint(const AwsEnvironment& environment, const AwsService& service);

// Returns `https://ec2.eu-west-1.amazonaws.com`, or the value of AWS_ENDPOINT_URL_EC2 or
// AWS_ENDPOINT_URL, without a slash at the end. kInvalid for an invalid region, and for plain HTTP
// to any other machine, because the request carries the session's token.
[[nodiscard]] Result<std::string> endpoint_of(const AwsEnvironment& environment,
                                              const AwsService& service, std::string_view region);

}  // namespace gpuward::aws
