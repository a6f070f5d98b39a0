// Takes one file to where it is kept, once and within a time that also holds where the other side
// hangs. Used by the exporter's evidence.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "core/aws/client.h"
#include "core/http/client/client.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/upload/target.h"

namespace gpuward {

struct UploadParts {
  http::Client& http;  // of a URL: what it shows to its server is its own business
  aws::AwsClient& aws;
  Clock& clock;
  std::stop_token stop = {};  // ends the upload within a second or two: kCancelled
};

// To `place` itself (below()), over what is there: S3 by PutObject, a URL by PUT, a folder by a
// child, because a file system of the network may never answer. Not 2xx, a redirect too, is an
// error; kTimeout: not done within `timeout`. No message holds a secret or the answer's words.
[[nodiscard]] Status upload(const UploadTarget& place, const std::string& content,
                            std::chrono::milliseconds timeout, const UploadParts& parts);

}  // namespace gpuward
