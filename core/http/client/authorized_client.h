// A client for servers that want to know who asks: with a bearer token or a user's password from a
// file, a certificate of our own, an authority of one's own. Files are read again when they change,
// so that whoever rotates them need not tell us. Used for the Prometheus and the Alertmanager that
// the remediator reads.
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

// All empty: nobody in particular, and the system's roots.
struct ClientFiles {
  // Flags name the files: "--prometheus" of `--prometheus.ca-file`, for errors. Empty: they do not.
  std::string prefix;
  std::filesystem::path ca_file;            // PEM
  std::filesystem::path bearer_token_file;  // one line
  std::filesystem::path basic_auth_file;    // one line, user:password
  std::filesystem::path certificate_file;   // PEM, with key_file
  std::filesystem::path key_file;
  // The URL itself is a secret, as that of an incoming webhook is.
  bool has_secret_url = false;
  PlainHttp plain_http = PlainHttp::kRefused;  // for secrets: token, password, secret URL
};

// kInvalid if a request to the URL would show a secret in the clear (plain_http.h). Names the flag.
[[nodiscard]] Status check_plain_http(const ClientFiles& files, std::string_view url);

class AuthorizedClient final : public Client {
 public:
  // kInvalid for files that do not go together, and for secrets that would go to `url` in the
  // clear; else the error of the file that cannot be read. An empty URL is not known yet.
  [[nodiscard]] static Result<std::unique_ptr<AuthorizedClient>> open(ClientFiles files,
                                                                      std::string_view url = {});

  // kInvalid for a secret in the clear: nothing is sent. A file that can no longer be read leaves
  // what was read before in force. No message holds what is in a file.
  [[nodiscard]] Result<ClientResponse> send(const ClientRequest& request) override;
  [[nodiscard]] Result<ClientResponse> stream(
      const ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  // What the files say; immutable, so that a request keeps the one that it began with.
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
  std::vector<FileWatch> watches_;
  std::shared_ptr<Identity> identity_;
};

}  // namespace gpuward::http
