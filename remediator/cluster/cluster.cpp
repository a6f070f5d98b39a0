#include "remediator/cluster/cluster.h"

#include <utility>

#include "remediator/cluster/gates/stop_switch.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Short, because a webhook answers within a second and may need two requests.
constexpr Deadlines kIntakeDeadlines{milliseconds(400), milliseconds(400)};
constexpr Deadlines kWorkDeadlines{seconds(10), seconds(20)};
// Longer than 10 s, because the API server may try a disruption budget for 10 s before it answers.
constexpr Deadlines kDrainDeadlines{seconds(35), seconds(35)};
constexpr Deadlines kSwitchDeadlines{kSwitchReadLimit, kSwitchReadLimit};
constexpr Deadlines kLeaseDeadlines{seconds(4), seconds(5)};
constexpr Deadlines kEventDeadlines{seconds(5), seconds(5)};
constexpr Deadlines kProbeDeadlines{seconds(2), seconds(2)};

Result<kube::ClusterConfig> find_cluster(const ClusterChoice& choice) {
  if (!choice.in_cluster) return kube::load_kubeconfig(choice.kubeconfig, choice.context);
  auto own = kube::load_in_cluster();
  if (own || own.error().kind != ErrorKind::kNotFound) return own;
  auto config = kube::load_kubeconfig("", "");
  if (!config) return with_context(own.error().message, config.error());
  return config;
}

}  // namespace

Result<std::unique_ptr<Cluster>> Cluster::connect(const ClusterChoice& choice, Clock& clock) {
  const auto config = find_cluster(choice);
  if (!config) return fail(ErrorKind::kInvalid, config.error().message);
  return std::unique_ptr<Cluster>(new Cluster(*config, clock));
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

ApiClients make_api_clients(Cluster& cluster, std::stop_token stop,
                            const FencedClient::MayWrite& may_write) {
  return {.work = cluster.make_fenced_api(kWorkDeadlines, stop, may_write),
          .intake = cluster.make_api(kIntakeDeadlines, stop),
          .event = cluster.make_api(kEventDeadlines, stop),
          .probe = cluster.make_api(kProbeDeadlines, stop),
          .ledger = cluster.make_fenced_api(kWorkDeadlines, stop, may_write),
          .drain = cluster.make_fenced_api(kDrainDeadlines, stop, may_write),
          .stop_switch = cluster.make_api(kSwitchDeadlines, stop),
          // `stop` does not end these requests, because the lease is released after the stop.
          .lease = cluster.make_api(kLeaseDeadlines, {})};
}

}  // namespace gpuward::remediator
