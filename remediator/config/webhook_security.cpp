#include "remediator/config/webhook_security.h"

#include <utility>

namespace gpuward::remediator {

Result<WebhookSecurity> load_webhook_security(const WebFlags& flags) {
  auto web = http::load_web_config(flags.config_file);
  if (!web) return std::unexpected(web.error());
  WebhookSecurity security{.web = std::move(*web)};
  for (const std::string& file : flags.bearer_token_files) {
    security.web.auth.bearer_token_files.push_back(file);
  }
  if (security.web.asks_for_credentials() || !security.web.tls.client_ca_file.empty()) {
    return security;
  }
  if (!flags.insecure) {
    return fail(ErrorKind::kInvalid,
                "the webhook would be open to everybody: give --web.bearer-token-file, or auth or "
                "tls.client_ca_file in --web.config.file, or --web.insecure if that is wanted");
  }
  security.access = http::Access::kOpen;
  return security;
}

}  // namespace gpuward::remediator
