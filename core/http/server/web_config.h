// TLS and credentials of a server, as the programs read them from --web.config.file and
// --web.telemetry-config.file:
//
//   tls: {certificate_file: …, key_file: …, client_ca_file: …}      # client_ca_file: mTLS
//   auth: {bearer_token_files: [ … ], basic_users_file: …}
#pragma once

#include <filesystem>

#include "core/http/server/server.h"
#include "core/model/result.h"

namespace gpuward::http {

struct WebConfig {
  ServerTls tls;
  ServerAuth auth;

  // Whether a request itself must carry a credential (a client certificate is asked for by TLS).
  [[nodiscard]] bool asks_for_credentials() const {
    return !auth.bearer_token_files.empty() || !auth.basic_users_file.empty();
  }
  // Returns the access to metrics and pages: open, unless the file names credentials.
  [[nodiscard]] Access access_to_metrics() const {
    return asks_for_credentials() ? Access::kAuthenticated : Access::kOpen;
  }
};

// An empty path gives plain HTTP, open to all. kInvalid names file, line and field.
[[nodiscard]] Result<WebConfig> load_web_config(const std::filesystem::path& path);

}  // namespace gpuward::http
