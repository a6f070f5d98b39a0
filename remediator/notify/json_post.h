// POST of a JSON body to an address that may be a secret: read from a file, again when it changes,
// and never in an error but for its host. Used by the sinks that are a web server.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "core/runtime/files.h"
#include "remediator/policy/notifications.h"

namespace gpuward::remediator {

// One thread.
class JsonPost {
 public:
  // The error of a file that cannot be read; kInvalid for a secret that would go out in the clear.
  [[nodiscard]] static Result<std::unique_ptr<JsonPost>> open(const SinkSettings& settings);

  // Any 2xx is a success. kInvalid where the receiver says that it will never take this body (400,
  // 413, 415, 422); what else it says, redirects included, may be another in a while: they are not
  // followed. An error's retry_after is what a 429 or 503 asks for.
  [[nodiscard]] Status send(const std::string& body, const std::stop_token& stop);

 private:
  explicit JsonPost(const SinkSettings& settings);
  [[nodiscard]] Status read_url();

  std::chrono::milliseconds timeout_;
  std::unique_ptr<http::Client> client_;
  std::optional<FileWatch> url_watch_;
  std::string url_;
};

}  // namespace gpuward::remediator
