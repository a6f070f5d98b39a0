#include "core/kube/connection.h"

#include <functional>
#include <string_view>
#include <utility>

namespace gpuward::kube {
namespace {

class HeaderClient final : public http::Client {
 public:
  HeaderClient(std::unique_ptr<http::Client> inner, http::HeaderList headers)
      : inner_(std::move(inner)), headers_(std::move(headers)) {}

  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    return inner_->send(with_headers(request));
  }
  Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds idle, std::stop_token stop,
      const std::function<bool(std::string_view)>& on_bytes) override {
    return inner_->stream(with_headers(request), idle, std::move(stop), on_bytes);
  }

 private:
  [[nodiscard]] http::ClientRequest with_headers(http::ClientRequest request) const {
    request.headers.insert(request.headers.end(), headers_.begin(), headers_.end());
    return request;
  }

  const std::unique_ptr<http::Client> inner_;
  const http::HeaderList headers_;
};

}  // namespace

Connection::Connection(ClusterConfig config, std::string user_agent, Clock& clock,
                       http::HeaderList headers)
    : config_(std::move(config)),
      user_agent_(std::move(user_agent)),
      clock_(clock),
      credentials_(make_credentials(config_, clock_)),
      http_(make_http_client(config_, *credentials_)) {
  if (!headers.empty())
    http_ = std::make_unique<HeaderClient>(std::move(http_), std::move(headers));
}

Status Connection::log_in() {
  const auto authorization = credentials_->authorization();
  return authorization ? Status() : std::unexpected(authorization.error());
}

std::unique_ptr<Api> Connection::make_api(ApiDeadlines deadlines, std::stop_token stop) {
  ApiOptions options;
  options.server = config_.server;
  options.user_agent = user_agent_;
  options.request_timeout = deadlines.request;
  options.retry_deadline = deadlines.with_retries;
  options.ends_program = deadlines.ends_program;
  options.stop = std::move(stop);
  return std::make_unique<Api>(std::move(options), *http_, *credentials_, clock_);
}

Result<ClusterConfig> find_cluster(const std::string& kubeconfig, const std::string& context) {
  if (!kubeconfig.empty() || !context.empty()) return load_kubeconfig(kubeconfig, context);
  auto config = load_in_cluster();
  if (config || config.error().kind != ErrorKind::kNotFound) return config;
  return fail(ErrorKind::kInvalid, config.error().message + " (outside a pod, set --kubeconfig)");
}

}  // namespace gpuward::kube
