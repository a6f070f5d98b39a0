// A test's own server on a free port of 127.0.0.1, and routes for it in one line.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/http/client/client.h"
#include "core/http/server/server.h"
#include "tests/support/deadline.h"

namespace gpuward::http {

inline Route get_route(std::string path, std::string body, Access access = Access::kOpen) {
  auto shared = std::make_shared<const std::string>(std::move(body));
  const Handler handler = [shared](const Request&) {
    Response response;
    response.body = shared;
    return response;
  };
  return {std::move(path), {"GET"}, handler, access, Match::kExact};
}

// A route that answers with the body of the request.
inline Route echo_route(Access access = Access::kOpen) {
  const Handler handler = [](const Request& request) { return Response::text(200, request.body); };
  return {"/echo", {"POST", "PUT", "PATCH"}, handler, access, Match::kExact};
}

class TestServer {
 public:
  explicit TestServer(std::vector<Route> routes, ServerOptions options = {}) {
    if (options.listen_addresses.empty()) options.listen_addresses = {"127.0.0.1:0"};
    scheme_ = options.tls.certificate_file.empty() ? "http" : "https";
    auto started = Server::start(options, std::move(routes));
    if (started) {
      server_ = std::move(*started);
    } else {
      ADD_FAILURE() << started.error().message;
    }
  }

  [[nodiscard]] int port() const { return server_->ports().front(); }
  [[nodiscard]] std::string url(const std::string& path) const {
    return scheme_ + "://127.0.0.1:" + std::to_string(port()) + path;
  }
  void stop() { server_.reset(); }
  [[nodiscard]] Server& get() { return *server_; }

 private:
  std::string scheme_;
  std::unique_ptr<Server> server_;
};

inline ClientRequest get_request(std::string url) {
  ClientRequest request;
  request.url = std::move(url);
  request.timeout = support::Deadline(support::kGenerousRequest).limit();
  return request;
}

inline ClientRequest post_request(std::string url, std::string body) {
  ClientRequest request = get_request(std::move(url));
  request.method = "POST";
  request.body = std::move(body);
  return request;
}

}  // namespace gpuward::http
