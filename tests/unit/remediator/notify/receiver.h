// A receiver of notifications: a web server on a free port of loopback that keeps each request and
// answers as a test wants. Used by the tests of the sinks and of the real program.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/http/server/server.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {

class Receiver {
 public:
  explicit Receiver(int status = 200) : status_(status) {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = "/hooks/secret-path",
                   .methods = {"POST"},
                   .handler = [this](const http::Request& request) { return take(request); }}});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = std::move(*server);
  }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_->ports().front()) + "/hooks/secret-path";
  }
  void answer(int status, std::string location = {}) {
    const std::lock_guard lock(mutex_);
    location_ = std::move(location);
    status_ = status;
  }
  [[nodiscard]] std::vector<http::Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // The bodies of the requests, in order.
  [[nodiscard]] std::vector<Json> events() const {
    std::vector<Json> events;
    for (const auto& request : requests()) {
      events.push_back(parse_json(request.body).value_or(Json("no JSON")));
    }
    return events;
  }

 private:
  http::Response take(const http::Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    http::Response response = http::Response::text(status_, "a secret of the receiver");
    if (!location_.empty()) response.headers.emplace_back("Location", location_);
    if (status_ == 429) response.headers.emplace_back("Retry-After", "7");
    return response;
  }

  mutable std::mutex mutex_;
  int status_;
  std::string location_;
  std::vector<http::Request> requests_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace gpuward::remediator
