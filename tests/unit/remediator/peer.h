// A peer that the remediator reads besides the API server, on a free port of loopback: one GET,
// whose answer a test makes for each request. Used by the process tests.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/http/server/server.h"

namespace gpuward::remediator {

class Peer {
 public:
  // The server's threads call `answer`.
  Peer(std::string path, std::function<std::string()> answer) {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = std::move(path),
                   .methods = {"GET"},
                   .handler = [answer = std::move(answer)](const http::Request&) {
                     return http::Response::json(200, answer());
                   }}});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
  }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_->ports().front());
  }

 private:
  std::unique_ptr<http::Server> server_;
};

}  // namespace gpuward::remediator
