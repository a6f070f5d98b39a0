// Objects of S3 and of services that speak its protocol: their address, and an upload in one
// request. Used by core/upload.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/aws/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

struct S3Place {
  std::string bucket;
  std::string key;     // or the prefix of keys
  std::string region;  // empty: that of find_region()
};

// Reads `s3://bucket/prefix?region=eu-west-1`; prefix and region are optional. kInvalid for an
// invalid bucket name, and for a prefix with characters other than A-Z a-z 0-9 ! - _ . * ' ( ) / or
// with an empty segment, `.` or `..`, which other programs would read differently.
[[nodiscard]] Result<S3Place> parse_s3_url(std::string_view url);
// `s3://bucket/key`
[[nodiscard]] std::string s3_url_of(const S3Place& place);

// Overwrites an object of that key. All attempts of the client together end at `timeout`: kTimeout.
// Other errors are those of AwsClient::call.
[[nodiscard]] Status put_object(AwsClient& aws, Clock& clock, const S3Place& place,
                                std::string content, std::chrono::milliseconds timeout,
                                const std::stop_token& stop = {});

}  // namespace gpuward::aws
