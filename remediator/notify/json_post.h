// Sends a JSON body by POST to an address that may be a secret. It reads the address from a file,
// again after each change, and errors show only the host. Used by the sinks with a web server as
// receiver.
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
  // Opens the files. Returns the error of a file that cannot be read, and kInvalid for a secret
  // that would be sent unencrypted.
  [[nodiscard]] static Result<std::unique_ptr<JsonPost>> open(const SinkSettings& settings);

  // Sends the body; any 2xx is a success. Returns kInvalid if the receiver will never accept this
  // body (400, 413, 415, 422). After any other error, redirects included, a later attempt may
  // succeed. retry_after of the error is the wait that a 429 or 503 asks for.
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
