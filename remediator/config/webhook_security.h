// Reads who may call the webhook, from --web.config.file and the related flags. A webhook without
// credentials does not start unless --web.insecure allows it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/http/server/web_config.h"
#include "core/model/result.h"

namespace gpuward::remediator {

struct WebFlags {
  std::filesystem::path config_file = {};            // File for the webhook.
  std::filesystem::path telemetry_config_file = {};  // File for metrics and pages.
  // Tokens in addition to the tokens of the file.
  std::vector<std::string> bearer_token_files = {};
  // Host names of the pages, but not of the webhook.
  std::vector<std::string> page_hosts = {};
  bool insecure = false;  // True: the webhook needs no credentials.
};

struct WebhookSecurity {
  http::WebConfig web;
  http::Access access = http::Access::kAuthenticated;
};

// The flags that set who may call the webhook, as text for people.
inline constexpr const char* kCallerFlags =
    "--web.bearer-token-file, or auth or tls.client_ca_file in --web.config.file, or "
    "--web.insecure to allow this";

// Reads the settings. The access is kOpen if neither flags nor file set who may call. Returns
// kInvalid with flag, file, line and field.
[[nodiscard]] Result<WebhookSecurity> read_webhook_security(const WebFlags& flags);
// Reads the settings for the server. Returns kInvalid if the webhook would be open without
// --web.insecure.
[[nodiscard]] Result<WebhookSecurity> load_webhook_security(const WebFlags& flags);

}  // namespace gpuward::remediator
