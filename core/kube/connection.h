// The identity at the Kubernetes API and one HTTP client to it, for programs that need no more;
// makes Apis with the deadlines that their users need.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>

#include "core/http/client/client.h"
#include "core/kube/api.h"
#include "core/kube/config.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

struct ApiDeadlines {
  std::chrono::milliseconds request{10'000}, with_retries{30'000};
  bool ends_program = false;  // if they pass: http::ClientRequest::is_last_of_program
};

class Connection {
 public:
  // `config` comes from load_in_cluster() or load_kubeconfig(). `headers` are added to each
  // request. The clock must outlive it.
  Connection(ClusterConfig config, std::string user_agent, Clock& clock,
             http::HeaderList headers = {});

  // Obtains the credential now, so that a slow exec plugin does not delay the first request.
  [[nodiscard]] Status log_in();
  // `stop` cancels its waits between tries. The connection must outlive the Api. Thread-safe.
  [[nodiscard]] std::unique_ptr<Api> make_api(ApiDeadlines deadlines, std::stop_token stop = {});
  [[nodiscard]] const ClusterConfig& config() const { return config_; }

 private:
  ClusterConfig config_;
  std::string user_agent_;
  Clock& clock_;
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<http::Client> http_;
};

// In a pod: its service account. Outside a pod, or if `kubeconfig` or `context` is given: the
// kubeconfig. A kInvalid error says how to fix it.
[[nodiscard]] Result<ClusterConfig> find_cluster(const std::string& kubeconfig,
                                                 const std::string& context);

}  // namespace gpuward::kube
