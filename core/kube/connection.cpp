#include "core/kube/connection.h"

#include <utility>

namespace gpuward::kube {

Connection::Connection(ClusterConfig config, std::string user_agent, Clock& clock)
    : config_(std::move(config)),
      user_agent_(std::move(user_agent)),
      clock_(clock),
      credentials_(make_credentials(config_, clock_)),
      http_(make_http_client(config_, *credentials_)) {}

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
  return fail(ErrorKind::kInvalid,
              config.error().message + " (outside of a pod give --kubeconfig)");
}

}  // namespace gpuward::kube
