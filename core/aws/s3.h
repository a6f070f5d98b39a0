// Objects of S3, and of what speaks its protocol: where one lies, and how it is put there in one
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
  std::string key;     // or how keys begin
  std::string region;  // empty: that of find_region()
};

// `s3://bucket/prefix?region=eu-west-1`, the last two if need be. kInvalid for what no bucket may
// be called, and for prefixes with other characters than A-Z a-z 0-9 ! - _ . * ' ( ) / and with
// empty segments, `.` or `..`, which other programs would take for something else.
[[nodiscard]] Result<S3Place> parse_s3_url(std::string_view url);
// `s3://bucket/key`
[[nodiscard]] std::string s3_url_of(const S3Place& place);

// Writes over an object of that key. Ends at `timeout`, which also holds for all attempts of the
// client together: kTimeout. Other errors are AwsClient::call's.
[[nodiscard]] Status put_object(AwsClient& aws, Clock& clock, const S3Place& place,
                                std::string content, std::chrono::milliseconds timeout,
                                const std::stop_token& stop = {});

}  // namespace gpuward::aws
