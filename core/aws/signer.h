// AWS Signature Version 4 in the Authorization header: a pure function of request, keys, scope and
// time. It replaces libcurl's own, which is right only for POST. Used by AwsClient.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/aws/keys.h"

namespace gpuward::aws {

using HeaderFields = std::vector<std::pair<std::string, std::string>>;

struct SignableRequest {
  std::string_view method;
  std::string_view path;   // as sent, escapes included; empty means "/", except for S3
  std::string_view query;  // as sent, without '?'
  // As sent, with Host. All are signed except those that proxies and curl may change.
  const HeaderFields& headers;
  std::string_view body;
};

struct SigningScope {
  std::string_view region, service;  // "eu-west-1", "autoscaling": the service's signing name
};

// Returns the headers to send besides `headers`: X-Amz-Date, X-Amz-Security-Token if the keys have
// a token, X-Amz-Content-Sha256 for S3, which requires the hash of the body besides its signature,
// and Authorization.
[[nodiscard]] HeaderFields sign(const SignableRequest& request, const AwsKeys& keys,
                                const SigningScope& scope, Clock::Wall now);

}  // namespace gpuward::aws
