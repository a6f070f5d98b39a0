// Who may call the webhook, from --web.config.file and the flags beside it, and the rule that a
// webhook without credentials is not started by accident.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/http/server/web_config.h"
#include "core/model/result.h"

namespace gpuward::remediator {

struct WebFlags {
  std::filesystem::path config_file = {};
  std::vector<std::string> bearer_token_files = {};  // added to those of the file
  bool insecure = false;                             // no credentials wanted
};

struct WebhookSecurity {
  http::WebConfig web;
  http::Access access = http::Access::kAuthenticated;
};

// kInvalid names file, line and field, or says which flags would do.
[[nodiscard]] Result<WebhookSecurity> load_webhook_security(const WebFlags& flags);

}  // namespace gpuward::remediator
