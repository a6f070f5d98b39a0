// The connection to the Kubernetes API: who we are, one HTTP client, and clients with the deadlines
// that their users need.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <vector>

#include "core/http/client/client.h"
#include "core/kube/api.h"
#include "core/kube/config.h"
#include "core/runtime/clock.h"
#include "remediator/config/flags.h"
#include "remediator/gates/fenced_client.h"
#include "remediator/page/api_times.h"

namespace gpuward::remediator {

// The lease of who leads, in the namespace of the remediator.
inline constexpr const char* kLeaseName = "gpuward-remediator";

struct Deadlines {
  std::chrono::milliseconds request, with_retries;
};

class Cluster {
 public:
  // kInvalid or kNotFound where the configuration names no API server.
  [[nodiscard]] static Result<std::unique_ptr<Cluster>> connect(const Flags& flags, Clock& clock);
  // `stop` ends its waits between tries. The cluster must outlive it.
  [[nodiscard]] std::unique_ptr<kube::Api> make_api(Deadlines deadlines, std::stop_token stop);
  // One that writes nothing while `may_write` says no: for all that only the leader does.
  [[nodiscard]] std::unique_ptr<kube::Api> make_fenced_api(Deadlines deadlines,
                                                           std::stop_token stop,
                                                           FencedClient::MayWrite may_write);
  [[nodiscard]] const std::string& server() const { return config_.server; }
  // How long the answers took.
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

// Each user has a client with the deadlines that it needs; those of the work write nothing unless
// this replica leads.
struct ApiClients {
  std::unique_ptr<kube::Api> work, intake, event, probe, ledger, drain, stop_switch, lease;
};

// `cluster` must outlive them.
[[nodiscard]] ApiClients make_api_clients(Cluster& cluster, std::stop_token stop,
                                          const FencedClient::MayWrite& may_write);

}  // namespace gpuward::remediator
