// A server with OpenAI's /v1/chat/completions on a free loopback port. It keeps the requests and
// answers with the text that a test sets. Used by the tests of the triage.
#pragma once

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/http/server/server.h"
#include "core/runtime/json.h"

namespace gpuward::fakes {

class FakeModel {
 public:
  explicit FakeModel(std::string says = {}) : says_(std::move(says)) {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = "/v1/chat/completions",
                   .methods = {"POST"},
                   .handler = [this](const http::Request& request) { return take(request); }}});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = *std::move(server);
  }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_->ports().front()) + "/v1";
  }
  void say(std::string text) {
    const std::lock_guard lock(mutex_);
    says_ = std::move(text);
  }
  // The status of all later answers; 200 sends the text.
  void answer(int status) {
    const std::lock_guard lock(mutex_);
    status_ = status;
  }
  [[nodiscard]] std::vector<http::Request> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // The data in the last request, as JSON.
  [[nodiscard]] Json data() const {
    const auto all = requests();
    if (all.empty()) return {};
    const Json asked = parse_json(all.back().body).value_or(Json());
    const Json& messages = member_at(asked, "messages");
    if (!messages.is_array() || messages.size() != 2) return {};
    return parse_json(string_at(messages[1], "content")).value_or(Json());
  }

 private:
  http::Response take(const http::Request& request) {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    if (status_ != 200) return http::Response::text(status_, "a secret of the model's server");
    const Json choice = {{"index", 0},
                         {"message", {{"role", "assistant"}, {"content", says_}}},
                         {"finish_reason", "stop"}};
    return http::Response::json(
        200, dump_json({{"object", "chat.completion"}, {"choices", Json::array({choice})}}));
  }

  mutable std::mutex mutex_;
  std::string says_;
  int status_ = 200;
  std::vector<http::Request> requests_;
  std::unique_ptr<http::Server> server_;
};

// An answer of a model that follows the schema.
inline std::string advice_text(const std::string& error_class, double confidence = 0.9) {
  return dump_json({{"class", error_class}, {"confidence", confidence}, {"reason", "it says so"}});
}

}  // namespace gpuward::fakes
