#include "core/http/server/authenticator.h"

#include "core/http/syntax/headers.h"
#include "core/runtime/encoding.h"
#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

struct Authorization {
  std::string_view scheme;
  std::string_view credentials;
};

// nullopt where there is no such header, or more than one: two answers to one question are none.
std::optional<Authorization> read_authorization(const Request& request) {
  if (count_headers(request.headers, "Authorization") != 1) return std::nullopt;
  const std::string_view value = request.header("Authorization");
  const auto space = value.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  return Authorization{value.substr(0, space), trim(value.substr(space + 1))};
}

}  // namespace

Result<std::unique_ptr<Authenticator>> Authenticator::create(const ServerOptions& options) {
  std::unique_ptr<Authenticator> made(new Authenticator());
  const ServerAuth& auth = options.auth;
  if (!auth.bearer_token_files.empty()) {
    auto bearer = BearerTokens::load(auth.bearer_token_files, options.on_problem);
    if (!bearer) return std::unexpected(bearer.error());
    made->bearer_ = std::move(*bearer);
  }
  if (!auth.basic_users_file.empty()) {
    auto basic = BasicUsers::load(auth.basic_users_file, options.on_problem);
    if (!basic) return std::unexpected(basic.error());
    made->basic_ = std::move(*basic);
  }
  made->certificate_suffices_ =
      !made->bearer_ && !made->basic_ && !options.tls.client_ca_file.empty();
  return made;
}

std::optional<std::string> Authenticator::authenticate(const Request& request) {
  if (certificate_suffices_) {
    return request.has_verified_certificate ? std::optional(request.subject) : std::nullopt;
  }
  const auto authorization = read_authorization(request);
  if (!authorization) return std::nullopt;
  if (basic_ && same_name(authorization->scheme, "Basic")) {
    return check_basic(authorization->credentials);
  }
  const bool is_bearer = bearer_ && same_name(authorization->scheme, "Bearer");
  if (!is_bearer || !bearer_->contains(authorization->credentials)) return std::nullopt;
  return request.subject;
}

std::optional<std::string> Authenticator::check_basic(std::string_view credentials) {
  const auto decoded = decode_base64(credentials);
  const auto colon = decoded ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  std::string user = decoded->substr(0, colon);
  // crypt(3) would stop at a NUL and so accept more than the one password.
  if (decoded->contains('\0')) return std::nullopt;
  if (!basic_->verify(user, decoded->substr(colon + 1))) return std::nullopt;
  return user;
}

Response Authenticator::refusal() const {
  Response response = Response::text(401, "a valid credential is needed\n");
  if (bearer_ || !basic_) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"gpuward\"");
  }
  if (basic_) response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"gpuward\"");
  return response;
}

}  // namespace gpuward::http
