// An HTTP/1.1 server on civetweb: TLS and mTLS, IPv6, bearer and basic authentication in constant
// time, limits on header, body, time and connections, never a redirect. Used by both programs and
// by the fake API server of the tests. civetweb is included in core/http/server only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/syntax/headers.h"
#include "core/model/result.h"

namespace gpuward::http {

struct Request {
  std::string method;  // upper case
  std::string path;    // percent-decoded, dot segments resolved, never empty
  std::string query;   // as sent, without '?'
  // The target in absolute form has it, else the Host field: "gpu-7:10980". Empty: HTTP/1.0
  // without.
  std::string authority;
  HeaderList headers;  // names as sent
  std::string body;    // whole, within Limits::max_body_bytes
  std::string peer;    // "127.0.0.1", "::1"
  std::string
      subject;  // user of basic authentication or subject of the client certificate; may be empty
  // TLS has verified the client's certificate (ServerTls::client_ca_file). Its subject may be
  // empty: some have only a subject alternative name.
  bool has_verified_certificate = false;

  // The first header of that name, whatever its case; empty where there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    return header_value(headers, name);
  }
};

// Bytes to the client, for answers that last (a watch). write() is false once the client is gone or
// the server stops; the handler must then return.
class BodyWriter {
 public:
  virtual ~BodyWriter() = default;
  // write("") sends nothing and only asks: a handler that waits for news asks every 50 ms or so.
  virtual bool write(std::string_view bytes) = 0;
};

struct Response {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  HeaderList headers;
  // A shared body is sent as it is: no copy, no formatting. That is the whole scrape path.
  std::shared_ptr<const std::string> body;
  // Where set, the body is sent chunked by this function, on the connection's thread.
  std::function<void(BodyWriter&)> stream;

  [[nodiscard]] static Response text(int status, std::string body,
                                     std::string content_type = "text/plain; charset=utf-8");
  [[nodiscard]] static Response json(int status, std::string body);
};

// Called on a thread of the server, several at once; must not throw (a throw becomes a 500).
using Handler = std::function<Response(const Request&)>;

enum class Access : std::uint8_t { kOpen, kAuthenticated };
// kBrowsers: pages for people. The host of the request must be a name of the server's own, because
// a page of another name that has made that name lead here (DNS rebinding) could read the answer
// with the rights of its reader's network. Programs ask for others, and find the server by
// any name.
enum class Audience : std::uint8_t { kPrograms, kBrowsers };
enum class Match : std::uint8_t { kExact, kPrefix };

struct Route {
  std::string path;  // "/metrics"
  std::vector<std::string>
      methods;  // {"GET"}: HEAD comes with GET, anything else gets 405 and Allow
  Handler handler;
  Access access = Access::kOpen;
  Match match = Match::kExact;
  Audience audience = Audience::kPrograms;
};

struct ServerTls {
  std::string certificate_file;  // PEM, chain included
  std::string key_file;          // PEM
  std::string client_ca_file;    // where set, clients must show a certificate that it signed (mTLS)
};

struct ServerAuth {
  // Files that hold one token a line (two for a rotation); read again when they change. Empty: no
  // bearer.
  std::vector<std::string> bearer_token_files;
  // Lines of `user:password-hash` as crypt(3) writes them (bcrypt, yescrypt, sha512). Empty: no
  // basic.
  std::string basic_users_file;
};

struct Limits {
  std::size_t max_body_bytes = 1U << 20U;
  // All bodies together that are received or handled at once. A body beyond it gets 503, before it
  // is read if the request says its length. 0: no limit. See body_budget.h.
  std::size_t max_bodies_bytes = 0;
  std::size_t max_header_bytes = 16U << 10U;
  std::size_t max_connections = 64;  // threads of the server; further ones wait in a short queue
  std::chrono::milliseconds read_timeout{5'000};  // for the whole request, headers and body
  std::chrono::milliseconds keep_alive_timeout{30'000};
  std::chrono::milliseconds write_timeout{
      10'000};  // for the whole answer; for each piece of a stream
};

struct ServerOptions {
  // ":10980", "127.0.0.1:0", "[::1]:10980". Port 0 picks a free one (see ports()).
  std::vector<std::string> listen_addresses;
  ServerTls tls;    // plain HTTP where certificate_file is empty
  ServerAuth auth;  // routes with Access::kAuthenticated ask for any one of these. None set: a
                    // client certificate (mTLS) suffices; without client_ca_file all are refused
  // Names under which browsers reach the pages, beside those that page_hosts.h has; "*": any.
  std::vector<std::string> page_hosts = {};
  Limits limits;
  // Called on a thread of the server, rarely: a token file or a certificate that was changed into
  // something unusable (what was read before stays in force), an exception of a handler. Never
  // holds a secret.
  std::function<void(const std::string&)> on_problem;
  // Called on a thread of the server with the status of each answer, refusals that no handler sees
  // included, before it is sent; must be quick and must not throw.
  std::function<void(int)> on_answer = {};
};

class Server {
 public:
  // Binds, listens and serves. kInvalid for options that cannot work (says which), kUnavailable
  // where the address is taken.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(const ServerOptions& options,
                                                             std::vector<Route> routes);
  // Whether a server could start with these: reads all that they name, and listens nowhere.
  [[nodiscard]] static Status check(const ServerTls& tls, const ServerAuth& auth);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  // Stops taking requests, ends streams, waits for handlers; at most about a second.
  ~Server();

  // The ports really bound, in the order of listen_addresses.
  [[nodiscard]] const std::vector<int>& ports() const;

 private:
  class Impl;
  [[nodiscard]] static Result<std::unique_ptr<Server>> prepare(const ServerOptions& options,
                                                               std::vector<Route> routes);
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpuward::http
