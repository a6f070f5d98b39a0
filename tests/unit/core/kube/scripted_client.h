// An http::Client that answers from a list and records the requests. Used by the unit tests of
// core/kube and core/aws.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/http/client/client.h"

namespace gpuward::kube {

inline http::ClientResponse answer(int status, std::string body,
                                   std::vector<std::pair<std::string, std::string>> headers = {}) {
  return {status, std::move(headers), std::move(body)};
}

// A Kubernetes Status of a failure.
inline http::ClientResponse failure(int code, const std::string& reason,
                                    const std::string& message = "no") {
  return answer(code, R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" +
                          message + R"(","reason":")" + reason + R"(","code":)" +
                          std::to_string(code) + "}");
}

class ScriptedClient final : public http::Client {
 public:
  using Step = std::variant<http::ClientResponse, Error>;

  void then(http::ClientResponse response) { steps_.emplace_back(std::move(response)); }
  void then_fail(ErrorKind kind) { steps_.emplace_back(Error{kind, "scripted", {}}); }

  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    const std::lock_guard lock(mutex_);
    requests.push_back(request);
    return next();
  }

  // Sends a 2xx body in pieces of three bytes, so that lines never come whole.
  Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token /*stop*/,
      const std::function<bool(std::string_view)>& on_bytes) override {
    requests.push_back(request);
    longest_silence = idle;
    if (while_streaming) while_streaming();
    auto response = next();
    if (!response || response->status != 200) return response;
    const std::string body = std::exchange(response->body, {});
    for (std::size_t i = 0; i < body.size(); i += 3) {
      if (!on_bytes(std::string_view(body).substr(i, 3))) break;
    }
    return response;
  }

  [[nodiscard]] std::size_t unused() const { return steps_.size(); }
  [[nodiscard]] std::string header(std::size_t request, std::string_view name) const {
    for (const auto& [key, value] : requests.at(request).headers) {
      if (key == name) return value;
    }
    return {};
  }

  std::vector<http::ClientRequest> requests;
  std::chrono::milliseconds longest_silence{0};  // of the last stream
  std::function<void()> while_streaming;         // called before its answer

 private:
  Result<http::ClientResponse> next() {
    if (steps_.empty()) return fail(ErrorKind::kInternal, "the script has ended");
    const Step step = std::move(steps_.front());
    steps_.pop_front();
    if (const auto* error = std::get_if<Error>(&step)) return std::unexpected(*error);
    return std::get<http::ClientResponse>(step);
  }

  std::mutex mutex_;
  std::deque<Step> steps_;
};

}  // namespace gpuward::kube
