#include "tests/fakes/in_process_client.h"

#include <algorithm>
#include <utility>

#include "core/http/syntax/url.h"
#include "tests/fakes/kube/responses.h"

namespace gpuward::fakes {
namespace {

Result<http::Request> to_server_side(const http::ClientRequest& request) {
  const auto host = request.url.find("://");
  const auto slash = host == std::string::npos ? host : request.url.find('/', host + 3);
  if (slash == std::string::npos) return fail(ErrorKind::kInvalid, "not a URL: " + request.url);
  const auto mark = std::min(request.url.find('?', slash), request.url.size());
  auto path = http::normalise_path(request.url.substr(slash, mark - slash));
  if (!path) return std::unexpected(path.error());
  http::Request answered;
  answered.method = request.method;
  answered.path = *std::move(path);
  answered.query = request.url.substr(std::min(mark + 1, request.url.size()));
  answered.headers = request.headers;
  answered.body = request.body;
  answered.peer = "127.0.0.1";
  return answered;
}

http::ClientResponse to_client_side(const http::Response& response) {
  http::ClientResponse received;
  received.status = response.status;
  received.headers = response.headers;
  received.headers.emplace_back("Content-Type", response.content_type);
  if (response.body) received.body = *response.body;
  return received;
}

class CallbackWriter final : public http::BodyWriter {
 public:
  CallbackWriter(std::stop_token stop, const std::function<bool(std::string_view)>& on_bytes)
      : stop_(std::move(stop)), on_bytes_(on_bytes) {}
  bool write(std::string_view bytes) override {
    if (stop_.stop_requested() || ended_) return false;
    if (!bytes.empty()) ended_ = !on_bytes_(bytes);
    return !ended_;
  }

 private:
  std::stop_token stop_;
  const std::function<bool(std::string_view)>& on_bytes_;
  bool ended_ = false;
};

std::unexpected<Error> cut() {
  return fail(ErrorKind::kUnavailable, "the connection was cut by the fake API server");
}

}  // namespace

Result<http::ClientResponse> InProcessClient::send(const http::ClientRequest& request) {
  http::ClientResponse received;
  const auto collect = [&](std::string_view bytes) {
    received.body += bytes;
    return received.body.size() <= request.max_response_bytes;
  };
  auto response = stream(request, request.timeout, {}, collect);
  if (response && response->body.empty()) response->body = std::move(received.body);
  if (response && response->body.size() > request.max_response_bytes) {
    return fail(ErrorKind::kTooLarge, "the response is larger than allowed");
  }
  return response;
}

Result<http::ClientResponse> InProcessClient::stream(
    const http::ClientRequest& request, std::chrono::milliseconds /*idle*/, std::stop_token stop,
    const std::function<bool(std::string_view)>& on_bytes) {
  const auto asked = to_server_side(request);
  if (!asked) return std::unexpected(asked.error());
  const http::Response response = kube_.handle(*asked);
  if (response.status == 0) return cut();
  http::ClientResponse received = to_client_side(response);
  if (response.status / 100 != 2) return received;
  if (!response.stream) {
    // A short answer to a stream's request goes to `on_bytes` too, as a long one does.
    (void)on_bytes(received.body);
    received.body.clear();
    return received;
  }
  CallbackWriter writer(stop, on_bytes);
  try {
    response.stream(writer);
  } catch (const ConnectionCut&) {
    return cut();
  }
  if (stop.stop_requested()) return fail(ErrorKind::kCancelled, "stopped");
  return received;
}

}  // namespace gpuward::fakes
