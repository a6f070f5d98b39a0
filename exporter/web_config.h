// TLS and credentials of the exporter's pages (--web.config.file):
//
//   tls: {certificate_file: …, key_file: …, client_ca_file: …}      # client_ca_file: mTLS
//   auth: {bearer_token_files: [ … ], basic_users_file: …}
#pragma once

#include <filesystem>

#include "core/http/server.h"
#include "core/model/result.h"

namespace gpuward::exporter {

struct WebConfig {
  http::ServerTls tls;
  http::ServerAuth auth;

  // Of /metrics and the landing page: open unless some credential is configured.
  [[nodiscard]] http::Access access() const {
    const bool asks = !auth.bearer_token_files.empty() || !auth.basic_users_file.empty();
    return asks ? http::Access::kAuthenticated : http::Access::kOpen;
  }
};

// An empty path gives plain HTTP, open to all. kInvalid names file, line and field.
[[nodiscard]] Result<WebConfig> load_web_config(const std::filesystem::path& path);

}  // namespace gpuward::exporter
