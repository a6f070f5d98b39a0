// What a refusal of AWS means: its code and message out of XML (EC2, Auto Scaling, STS, SNS,
// CloudWatch) or JSON (Lambda, Bedrock, CloudWatch Logs), as one of our kinds. Used by AwsClient.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

struct AwsFailure {
  std::string code;  // "RequestLimitExceeded"; empty where the answer is not one of AWS's
  std::string message;
  int status = 0;
};

[[nodiscard]] AwsFailure read_failure(const http::ClientResponse& answer);

// kUnauthenticated, kForbidden, kNotFound, kRefused (a protection or a state forbids it),
// kOverloaded (throttled: nothing was done), kUnavailable for what 5xx leaves open, else kInvalid.
[[nodiscard]] ErrorKind kind_of(const AwsFailure& failure);
// `OperationNotPermitted: The instance may not be terminated`, the same for the same refusal.
[[nodiscard]] std::string words_of(const AwsFailure& failure);

// A signature that could be right if our clock were. EC2 says the same of a session that has ended.
[[nodiscard]] bool may_be_clock_skew(const AwsFailure& failure);
// The session's keys have ended, by a clock that is right.
[[nodiscard]] bool says_keys_expired(const AwsFailure& failure);

}  // namespace gpuward::aws
