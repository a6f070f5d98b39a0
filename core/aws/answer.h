// What a refusal of AWS means: its code, message and request id out of XML (EC2, Auto Scaling, STS,
// SNS, CloudWatch) or JSON (Lambda, Bedrock,
// CloudWatch Logs), as one of our kinds. Used by AwsClient. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

struct AwsFailure {
  std::string code;  // "RequestLimitExceeded"; empty where the answer is not one of AWS's
  std::string message, request_id;
  int status = 0;
};

[[nodiscard]] AwsFailure read_failure(const http::ClientResponse& answer);

// kUnauthenticated, kForbidden, kNotFound, kRefused (a protection or a state forbids it),
// kOverloaded (throttled: nothing was done), kUnavailable for what 5xx leaves open, else kInvalid.
[[nodiscard]] ErrorKind kind_of(const AwsFailure& failure);
// `OperationNotPermitted: The instance may not be terminated (request 59dbff89)`
[[nodiscard]] std::string words_of(const AwsFailure& failure);

// A signature that could be right if our clock were.
[[nodiscard]] bool may_be_clock_skew(const AwsFailure& failure);
// The session's keys have ended: others are needed.
[[nodiscard]] bool says_keys_expired(const AwsFailure& failure);

}  // namespace gpuward::aws
