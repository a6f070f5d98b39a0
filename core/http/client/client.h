// Requests that leave the process, each with a deadline and a cap on the response. Used by
// core/kube, the clouds and the notifiers. Client is the seam (tests implement it by a fake API
// server without a network); CurlClient is the real one. curl is included in client*.cpp only.
// Redirects are never followed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/syntax/headers.h"
#include "core/model/result.h"

namespace gpuward::http {

// kHttp2PriorKnowledge: HTTP/2 from the first byte, as gRPC servers without TLS expect.
enum class HttpVersion : std::uint8_t { kHttp11, kHttp2PriorKnowledge };

struct ClientRequest {
  std::string method = "GET";
  std::string url;
  HeaderList headers;
  std::string body;
  std::chrono::milliseconds timeout{30'000};  // for everything: connect, send, answer
  std::size_t max_response_bytes = 64U << 20U;
  HttpVersion version = HttpVersion::kHttp11;
  // Connects to this socket instead of the URL's host, which then only names the server; empty:
  // network.
  std::string unix_socket = {};
  // Uses a new connection. curl repeats a request if a reused connection closes without a response;
  // this must not happen to a request that does more if it is sent twice.
  bool own_connection = false;
  // For a program that ends if this request fails. A name server that does not answer delays it by
  // no more than `timeout`, but leaves a thread that waits for the answer. Other programs wait for
  // that thread.
  bool is_last_of_program = false;
};

struct ClientResponse {
  int status = 0;
  HeaderList headers;
  std::string body;
  HeaderList trailers = {};  // headers that came after the body

  // The first of that name, in any case; empty if there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const {
    return header_value(headers, name);
  }
  [[nodiscard]] std::string_view trailer(std::string_view name) const {
    return header_value(trailers, name);
  }
};

class Client {
 public:
  virtual ~Client() = default;

  // Thread-safe. Any HTTP status is a value; errors are those of the transport: kUnavailable (no
  // connection, broken response), kTimeout, kTooLarge, kInvalid (not a URL). The message names
  // method and host, never a header.
  [[nodiscard]] virtual Result<ClientResponse> send(const ClientRequest& request) = 0;

  // Any thread; blocks until the response ends. on_bytes gets pieces of a 2xx body as they arrive
  // and ends the stream by returning false (the result is a value then). If the status is not 2xx,
  // the body is collected in the response instead. `idle` without a byte is kTimeout; a stop is
  // kCancelled within 100 ms. `request.timeout` bounds only the connecting and the header of the
  // response.
  [[nodiscard]] virtual Result<ClientResponse> stream(
      const ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) = 0;
};

struct ClientTls {
  std::string ca_file;          // PEM; empty: the system's roots
  std::string ca_pem;           // wins over ca_file
  std::string certificate_pem;  // with key_pem: the client's own certificate
  std::string key_pem;
  std::string server_name;  // verified instead of the URL's host
  bool skip_verify = false;
};

// Keeps connections alive and shares them between threads, 64 idle ones at most. The program must
// ignore SIGPIPE, as Signals does: OpenSSL writes to connections that the peer has closed. Proxies
// come from the environment, as for curl and Go, but are never used for this machine itself.
class CurlClient final : public Client {
 public:
  explicit CurlClient(ClientTls tls = {});
  ~CurlClient() override;
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  [[nodiscard]] Result<ClientResponse> send(const ClientRequest& request) override;
  [[nodiscard]] Result<ClientResponse> stream(
      const ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpuward::http
