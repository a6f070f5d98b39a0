// Who may use the routes that ask for a credential: holders of a bearer token, users of basic
// authentication, and, where neither is configured, holders of a client certificate. Used by the
// server.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "core/http/server/basic_users.h"
#include "core/http/server/bearer_tokens.h"
#include "core/http/server/server.h"
#include "core/model/result.h"

namespace gpuward::http {

class Authenticator {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Authenticator>> create(const ServerOptions& options);

  // Thread-safe. The subject of the caller, which may be empty, also that of a certificate; else
  // the answer that refuses it. `request.subject` is that of the client's certificate; whether TLS
  // has verified one is has_verified_certificate alone.
  [[nodiscard]] std::expected<std::string, Response> authenticate(const Request& request);

 private:
  Authenticator() = default;
  [[nodiscard]] std::expected<std::string, Response> check_basic(std::string_view credentials,
                                                                 const std::string& peer);
  // 401 with a WWW-Authenticate for each scheme; the same for every reason.
  [[nodiscard]] Response refusal() const;

  std::unique_ptr<BearerTokens> bearer_;
  std::unique_ptr<BasicUsers> basic_;
  bool certificate_suffices_ = false;
};

}  // namespace gpuward::http
