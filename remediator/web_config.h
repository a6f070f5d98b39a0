// TLS and credentials of the webhook (--web.config.file), and the rule that a webhook without
// credentials is not started by accident.
//
//   tls: {certificate_file: …, key_file: …, client_ca_file: …}      # client_ca_file: mTLS
//   auth: {bearer_token_files: [ … ], basic_users_file: …}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/http/server.h"
#include "core/model/result.h"

namespace gpuward::remediator {

struct WebConfig {
  http::ServerTls tls;
  http::ServerAuth auth;
  http::Access access = http::Access::kAuthenticated;
};

struct WebFlags {
  std::filesystem::path config_file;
  std::vector<std::string> bearer_token_files;  // added to those of the file
  bool insecure = false;                        // no credentials wanted
};

// kInvalid names file, line and field, or says which flags would do.
[[nodiscard]] Result<WebConfig> load_web_config(const WebFlags& flags);

}  // namespace gpuward::remediator
