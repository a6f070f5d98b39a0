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

Response busy() {
  Response response = Response::text(503, "too many passwords are waiting to be checked\n");
  response.headers.emplace_back("Retry-After", "1");
  return response;
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

std::expected<std::string, Response> Authenticator::authenticate(const Request& request) {
  if (certificate_suffices_) {
    if (!request.has_verified_certificate) return std::unexpected(refusal());
    return request.subject;
  }
  const auto authorization = read_authorization(request);
  if (!authorization) return std::unexpected(refusal());
  if (basic_ && same_name(authorization->scheme, "Basic")) {
    return check_basic(authorization->credentials, request.peer);
  }
  const bool is_bearer = bearer_ && same_name(authorization->scheme, "Bearer");
  if (!is_bearer || !bearer_->contains(authorization->credentials)) {
    return std::unexpected(refusal());
  }
  return request.subject;
}

std::expected<std::string, Response> Authenticator::check_basic(std::string_view credentials,
                                                                const std::string& peer) {
  const auto decoded = decode_base64(credentials);
  const auto colon = decoded ? decoded->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::unexpected(refusal());
  std::string user = decoded->substr(0, colon);
  // crypt(3) would stop at a NUL and so accept more than the one password.
  if (decoded->contains('\0')) return std::unexpected(refusal());
  switch (basic_->verify(user, decoded->substr(colon + 1), peer)) {
    case PasswordOutcome::kRight:
      return user;
    case PasswordOutcome::kBusy:
      return std::unexpected(busy());
    case PasswordOutcome::kWrong:
      break;
  }
  return std::unexpected(refusal());
}

Response Authenticator::refusal() const {
  Response response = Response::text(401, "valid credentials are required\n");
  if (bearer_ || !basic_) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"gpuward\"");
  }
  if (basic_) response.headers.emplace_back("WWW-Authenticate", "Basic realm=\"gpuward\"");
  return response;
}

}  // namespace gpuward::http
