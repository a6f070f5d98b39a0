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
  std::filesystem::path config_file = {};            // of the webhook
  std::filesystem::path telemetry_config_file = {};  // of metrics and pages
  std::vector<std::string> bearer_token_files = {};  // added to those of the file
  std::vector<std::string> page_hosts = {};          // names of the pages, not of the webhook
  bool insecure = false;                             // no credentials wanted
};

struct WebhookSecurity {
  http::WebConfig web;
  http::Access access = http::Access::kAuthenticated;
};

// The flags that say who may call the webhook, for people.
inline constexpr const char* kCallerFlags =
    "--web.bearer-token-file, or auth or tls.client_ca_file in --web.config.file, or "
    "--web.insecure to allow this";

// kOpen if neither flags nor file say who may call. kInvalid names flag, file, line and field.
[[nodiscard]] Result<WebhookSecurity> read_webhook_security(const WebFlags& flags);
// The same to serve with: kInvalid if it is open without --web.insecure.
[[nodiscard]] Result<WebhookSecurity> load_webhook_security(const WebFlags& flags);

}  // namespace gpuward::remediator
