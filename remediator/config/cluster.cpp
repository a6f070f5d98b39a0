#include "remediator/config/cluster.h"

#include <utility>

namespace gpuward::remediator {

Result<std::unique_ptr<Cluster>> Cluster::connect(const Flags& flags, Clock& clock) {
  auto config = flags.in_cluster ? kube::load_in_cluster()
                                 : kube::load_kubeconfig(flags.kubeconfig, flags.context);
  if (!config) {
    std::string advice = config.error().message;
    if (flags.in_cluster) advice += " (outside of a pod give --kubeconfig)";
    return fail(ErrorKind::kInvalid, std::move(advice));
  }
  return std::unique_ptr<Cluster>(new Cluster(std::move(*config), clock));
}

Cluster::Cluster(kube::ClusterConfig config, Clock& clock)
    : config_(std::move(config)),
      clock_(clock),
      credentials_(kube::make_credentials(config_, clock_)),
      http_(kube::make_http_client(config_, *credentials_)),
      times_(*http_, clock_) {}

std::unique_ptr<kube::Api> Cluster::make_api(Deadlines deadlines, std::stop_token stop) {
  return make_api_over(times_, deadlines, std::move(stop));
}

std::unique_ptr<kube::Api> Cluster::make_fenced_api(Deadlines deadlines, std::stop_token stop,
                                                    FencedClient::MayWrite may_write) {
  fenced_.push_back(std::make_unique<FencedClient>(times_, std::move(may_write)));
  return make_api_over(*fenced_.back(), deadlines, std::move(stop));
}

std::unique_ptr<kube::Api> Cluster::make_api_over(http::Client& http, Deadlines deadlines,
                                                  std::stop_token stop) {
  kube::ApiOptions options;
  options.server = config_.server;
  options.user_agent = "gpuward-remediator/" GPUWARD_VERSION;
  options.request_timeout = deadlines.request;
  options.retry_deadline = deadlines.with_retries;
  options.stop = std::move(stop);
  return std::make_unique<kube::Api>(std::move(options), http, *credentials_, clock_);
}

}  // namespace gpuward::remediator
