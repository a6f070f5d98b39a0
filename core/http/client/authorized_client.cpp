#include "core/http/client/authorized_client.h"

#include <tuple>
#include <utility>

#include "core/runtime/encoding.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

constexpr std::size_t kLargestSecret = 64U << 10U;

Result<std::string> read_line(const std::filesystem::path& path) {
  const auto content = read_file(path, kLargestSecret);
  if (!content) return std::unexpected(content.error());
  std::string line(trim(*content));
  if (line.empty()) return fail(ErrorKind::kInvalid, path.string() + " is empty");
  if (line.find_first_of("\r\n") != std::string::npos) {
    return fail(ErrorKind::kInvalid, path.string() + " contains more than one line");
  }
  return line;
}

// Adds the flag that names the file to an error.
std::unexpected<Error> fault_of(const ClientFiles& files, const std::string& flag,
                                const Error& error) {
  if (files.prefix.empty()) return std::unexpected(error);
  return with_context(files.prefix + "." + flag, error);
}

Result<std::string> read_authorization(const ClientFiles& files) {
  if (!files.bearer_token_file.empty()) {
    const auto token = read_line(files.bearer_token_file);
    if (!token) return fault_of(files, "bearer-token-file", token.error());
    return "Bearer " + *token;
  }
  if (files.basic_auth_file.empty()) return std::string();
  const auto user = read_line(files.basic_auth_file);
  if (!user) return fault_of(files, "basic-auth-file", user.error());
  if (!user->contains(':')) {
    return fault_of(
        files, "basic-auth-file",
        {ErrorKind::kInvalid, files.basic_auth_file.string() + ": expected user:password", {}});
  }
  return "Basic " + encode_base64(*user);
}

Result<ClientTls> read_tls(const ClientFiles& files) {
  ClientTls tls;
  for (const auto& [file, pem, flag] :
       {std::tuple(&files.ca_file, &tls.ca_pem, "ca-file"),
        std::tuple(&files.certificate_file, &tls.certificate_pem, "certificate-file"),
        std::tuple(&files.key_file, &tls.key_pem, "key-file")}) {
    if (file->empty()) continue;
    auto content = read_file(*file);
    if (!content) return fault_of(files, flag, content.error());
    *pem = *std::move(content);
  }
  return tls;
}

}  // namespace

Status check_plain_http(const ClientFiles& files, std::string_view url) {
  const bool has_token = !files.bearer_token_file.empty();
  const bool has_password = !files.basic_auth_file.empty();
  if (!has_token && !has_password && !files.has_secret_url && !has_user(url)) return {};
  const std::string permit =
      files.prefix.empty() ? "credentials_over_http" : files.prefix + ".credentials-over-http";
  auto checked = check_credentials_for(url, files.plain_http, permit);
  if (checked || !(has_token || has_password)) return checked;
  return fault_of(files, has_token ? "bearer-token-file" : "basic-auth-file", checked.error());
}

Result<std::unique_ptr<AuthorizedClient>> AuthorizedClient::open(ClientFiles files,
                                                                 std::string_view url) {
  if (!files.bearer_token_file.empty() && !files.basic_auth_file.empty()) {
    return fail(ErrorKind::kInvalid, files.prefix + ".bearer-token-file and " + files.prefix +
                                         ".basic-auth-file are mutually exclusive");
  }
  if (files.certificate_file.empty() != files.key_file.empty()) {
    return fail(ErrorKind::kInvalid, files.prefix + ".certificate-file and " + files.prefix +
                                         ".key-file must be set together");
  }
  if (auto checked = check_plain_http(files, url); !checked)
    return std::unexpected(checked.error());
  std::unique_ptr<AuthorizedClient> client(new AuthorizedClient(std::move(files)));
  auto identity = client->read();
  if (!identity) return std::unexpected(identity.error());
  client->identity_ = *std::move(identity);
  return client;
}

AuthorizedClient::AuthorizedClient(ClientFiles files)
    : files_(std::move(files)),
      reload_({files_.ca_file, files_.bearer_token_file, files_.basic_auth_file,
               files_.certificate_file, files_.key_file}) {}

Result<std::shared_ptr<AuthorizedClient::Identity>> AuthorizedClient::read() const {
  auto authorization = read_authorization(files_);
  if (!authorization) return std::unexpected(authorization.error());
  auto tls = read_tls(files_);
  if (!tls) return std::unexpected(tls.error());
  return std::make_shared<Identity>(*std::move(authorization), *std::move(tls));
}

std::shared_ptr<AuthorizedClient::Identity> AuthorizedClient::current() {
  const std::lock_guard lock(mutex_);
  // A failure shows in the answers to the old identity once these are refused.
  static_cast<void>(reload_.reload_if_due([this]() -> Status {
    auto identity = read();
    if (!identity) return std::unexpected(identity.error());
    identity_ = *std::move(identity);
    return {};
  }));
  return identity_;
}

Result<ClientResponse> AuthorizedClient::send(const ClientRequest& request) {
  if (auto checked = check_plain_http(files_, request.url); !checked)
    return std::unexpected(checked.error());
  const auto identity = current();
  if (identity->authorization.empty()) return identity->client.send(request);
  ClientRequest authorized = request;
  authorized.headers.emplace_back("Authorization", identity->authorization);
  return identity->client.send(authorized);
}

Result<ClientResponse> AuthorizedClient::stream(
    const ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
    const std::function<bool(std::string_view)>& on_bytes) {
  if (auto checked = check_plain_http(files_, request.url); !checked)
    return std::unexpected(checked.error());
  const auto identity = current();
  ClientRequest authorized = request;
  if (!identity->authorization.empty())
    authorized.headers.emplace_back("Authorization", identity->authorization);
  return identity->client.stream(authorized, idle, std::move(stop), on_bytes);
}

}  // namespace gpuward::http
