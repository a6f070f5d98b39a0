// The connection to the Kubernetes API: the credentials of this process, one HTTP client, and API
// clients with the deadlines that their users need. Made by the composition root.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/http/client/client.h"
#include "core/kube/api.h"
#include "core/kube/config.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/api_times.h"
#include "remediator/cluster/gates/fenced_client.h"

namespace gpuward::remediator {

// The name of the leader's Lease, in the namespace of the remediator.
inline constexpr const char* kLeaseName = "gpuward-remediator";

// Which API server to use: a context of a kubeconfig file, or the server of the pod's own account.
struct ClusterChoice {
  std::string kubeconfig, context;  // empty: kubectl's defaults
  bool in_cluster = false;          // the pod's account first, outside of a pod as above
};

struct Deadlines {
  std::chrono::milliseconds request, with_retries;
};

class Cluster {
 public:
  // Returns kInvalid or kNotFound if the configuration names no API server.
  [[nodiscard]] static Result<std::unique_ptr<Cluster>> connect(const ClusterChoice& choice,
                                                                Clock& clock);
  // Returns an API client. `stop` ends its waits between retries. The cluster must outlive the
  // client.
  [[nodiscard]] std::unique_ptr<kube::Api> make_api(Deadlines deadlines, std::stop_token stop);
  // Returns an API client that writes only while `may_write` returns true. All work that only the
  // leader does uses such clients.
  [[nodiscard]] std::unique_ptr<kube::Api> make_fenced_api(Deadlines deadlines,
                                                           std::stop_token stop,
                                                           FencedClient::MayWrite may_write);
  [[nodiscard]] const std::string& server() const { return config_.server; }
  // Returns how long the answers of the API server took.
  [[nodiscard]] const ApiTimes& times() const { return times_; }

 private:
  Cluster(kube::ClusterConfig config, Clock& clock);
  [[nodiscard]] std::unique_ptr<kube::Api> make_api_over(http::Client& http, Deadlines deadlines,
                                                         std::stop_token stop);

  kube::ClusterConfig config_;
  Clock& clock_;
  std::unique_ptr<kube::Credentials> credentials_;
  std::unique_ptr<http::Client> http_;
  ApiTimes times_;
  std::vector<std::unique_ptr<FencedClient>> fenced_;
};

// The API clients, one per user, with the deadlines that this user needs. Clients for the leader's
// work write nothing while this replica does not lead.
struct ApiClients {
  std::unique_ptr<kube::Api> work, intake, event, probe, ledger, drain, stop_switch, lease;
};

// Makes the clients. `cluster` must outlive them.
[[nodiscard]] ApiClients make_api_clients(Cluster& cluster, std::stop_token stop,
                                          const FencedClient::MayWrite& may_write);

}  // namespace gpuward::remediator
