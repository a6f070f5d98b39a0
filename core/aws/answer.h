// The meaning of an error response of AWS: its code and message from XML (EC2, Auto Scaling, STS,
// SNS, CloudWatch) or JSON (Lambda, Bedrock, CloudWatch Logs), mapped to an ErrorKind. Used by
// AwsClient. Pure.
#pragma once

#include <string>
#include <string_view>

#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

struct AwsFailure {
  std::string code;  // "RequestLimitExceeded"; empty if the response is not AWS's
  std::string message;
  int status = 0;
};

[[nodiscard]] AwsFailure read_failure(const http::ClientResponse& answer);

// kUnauthenticated, kForbidden, kNotFound, kConflict, kTooLarge, kRefused (a protection or a state
// forbids it), kBlocked (not now), kOverloaded (throttled: AWS did nothing), kUnavailable for any
// other 5xx, else kInvalid.
[[nodiscard]] ErrorKind kind_of(const AwsFailure& failure);
// `OperationNotPermitted: The instance may not be terminated`; equal refusals give equal text.
[[nodiscard]] std::string words_of(const AwsFailure& failure);

// Whether a wrong clock on this machine may explain the refusal. EC2 answers in the same way if the
// session has ended.
[[nodiscard]] bool may_be_clock_skew(const AwsFailure& failure);
// Whether the session's keys have expired, provided that this machine's clock is right.
[[nodiscard]] bool says_keys_expired(const AwsFailure& failure);

}  // namespace gpuward::aws
