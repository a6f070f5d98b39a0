// Where each service of AWS answers, and under which name its requests are signed. Used by
// AwsClient and by those who call it.
#pragma once

#include <string>
#include <string_view>

#include "core/aws/environment.h"
#include "core/model/result.h"

namespace gpuward::aws {

struct AwsService {
  std::string_view title;     // in messages
  std::string_view host;      // what its host begins with
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

// Whether it can stand in a host's name: "eu-west-1".
[[nodiscard]] bool is_region(std::string_view text);

// Whether AWS_ENDPOINT_URL_EC2 or AWS_ENDPOINT_URL says where the service answers.
[[nodiscard]] bool has_own_endpoint(const AwsEnvironment& environment, const AwsService& service);

// `https://ec2.eu-west-1.amazonaws.com`, or what AWS_ENDPOINT_URL_EC2 or AWS_ENDPOINT_URL says;
// without a slash at its end. kInvalid for a region that is none, and for plain HTTP to anything
// but this machine: the keys of a session go along.
[[nodiscard]] Result<std::string> endpoint_of(const AwsEnvironment& environment,
                                              const AwsService& service, std::string_view region);

}  // namespace gpuward::aws
