#include "remediator/config/webhook_security.h"

#include <string>
#include <utility>

#include "core/http/server/bearer_tokens.h"

namespace gpuward::remediator {

Result<WebhookSecurity> read_webhook_security(const WebFlags& flags) {
  auto web = http::load_web_config(flags.config_file);
  if (!web) return std::unexpected(web.error());
  // Reads the tokens here, because only here an error can name the flag.
  if (const auto tokens = http::BearerTokens::load(flags.bearer_token_files, {}); !tokens)
    return with_context("--web.bearer-token-file", tokens.error());
  WebhookSecurity security{.web = std::move(*web)};
  for (const std::string& file : flags.bearer_token_files) {
    security.web.auth.bearer_token_files.push_back(file);
  }
  const bool asks = security.web.asks_for_credentials() || !security.web.tls.client_ca_file.empty();
  if (!asks) security.access = http::Access::kOpen;
  return security;
}

Result<WebhookSecurity> load_webhook_security(const WebFlags& flags) {
  auto security = read_webhook_security(flags);
  if (security && security->access == http::Access::kOpen && !flags.insecure) {
    return fail(
        ErrorKind::kInvalid,
        std::string("the webhook would accept requests from any client: set ") + kCallerFlags);
  }
  return security;
}

}  // namespace gpuward::remediator
