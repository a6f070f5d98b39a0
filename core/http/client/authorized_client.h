// A client with credentials: a bearer token or a user's password from a file, a client certificate,
// its own certificate authority. Changed files are read again, so that a rotation needs no restart.
// Used for the Prometheus and the Alertmanager that the remediator reads.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/client/client.h"
#include "core/http/syntax/plain_http.h"
#include "core/model/result.h"
#include "core/runtime/files.h"

namespace gpuward::http {

// All empty: no credentials, and the system's root certificates.
struct ClientFiles {
  // The prefix of the flags that name the files, for errors: "--prometheus" in
  // `--prometheus.ca-file`. Empty if no flag does.
  std::string prefix;
  std::filesystem::path ca_file;            // PEM
  std::filesystem::path bearer_token_file;  // one line
  std::filesystem::path basic_auth_file;    // one line, user:password
  std::filesystem::path certificate_file;   // PEM, with key_file
  std::filesystem::path key_file;
  // The URL itself is a secret, as for an incoming webhook.
  bool has_secret_url = false;
  PlainHttp plain_http = PlainHttp::kRefused;  // for secrets: token, password, secret URL
};

// kInvalid if a request to the URL would send a secret in the clear (plain_http.h); names the flag.
[[nodiscard]] Status check_plain_http(const ClientFiles& files, std::string_view url);

class AuthorizedClient final : public Client {
 public:
  // kInvalid for files that do not go together, and for secrets that would go to `url` in the
  // clear; else the error of a file that cannot be read. Pass an empty `url` if it is not known
  // yet.
  [[nodiscard]] static Result<std::unique_ptr<AuthorizedClient>> open(ClientFiles files,
                                                                      std::string_view url = {});

  // kInvalid for a secret in the clear; nothing is sent then. If a file can no longer be read, its
  // last content stays in use. No message contains the content of a file.
  [[nodiscard]] Result<ClientResponse> send(const ClientRequest& request) override;
  [[nodiscard]] Result<ClientResponse> stream(
      const ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  // The content of the files; immutable, so that a request keeps the identity that it began with.
  struct Identity {
    Identity(std::string header, ClientTls tls)
        : authorization(std::move(header)), client(std::move(tls)) {}
    std::string authorization;  // empty: none
    CurlClient client;
  };

  explicit AuthorizedClient(ClientFiles files);
  [[nodiscard]] Result<std::shared_ptr<Identity>> read() const;
  [[nodiscard]] std::shared_ptr<Identity> current();

  const ClientFiles files_;
  std::mutex mutex_;
  FileReload reload_;                   // guarded by mutex_
  std::shared_ptr<Identity> identity_;  // guarded by mutex_
};

}  // namespace gpuward::http
