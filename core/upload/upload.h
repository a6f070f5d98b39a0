// Uploads one file, once, and within a time limit that holds even if the destination hangs. Used by
// the exporter's evidence.
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
  http::Client& http;  // for a URL; it adds its own credentials
  aws::AwsClient& aws;
  Clock& clock;
  std::stop_token stop = {};  // cancels the upload within a second or two: kCancelled
};

// Writes to `place` itself (below()) and replaces the file there: S3 by PutObject, a URL by PUT, a
// folder by a child process, because a network file system may never answer. Any status but 2xx is
// an error, a redirect included; kTimeout: not done within `timeout`. No message contains a secret
// or the text of the response.
[[nodiscard]] Status upload(const UploadTarget& place, const std::string& content,
                            std::chrono::milliseconds timeout, const UploadParts& parts);

}  // namespace gpuward
