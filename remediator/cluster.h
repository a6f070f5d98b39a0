// The connection to the Kubernetes API: who we are, one HTTP client, and clients with the deadlines
// that their users need.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>

#include "core/http/client.h"
#include "core/kube/api.h"
#include "core/kube/config.h"
#include "core/runtime/clock.h"
#include "remediator/flags.h"

namespace gpuward::remediator {

struct Deadlines {
  std::chrono::milliseconds request, with_retries;
};

class Cluster {
 public:
  // kInvalid or kNotFound where the configuration names no API server.
  [[nodiscard]] static Result<std::unique_ptr<Cluster>> connect(const Flags& flags, Clock& clock);
  // `stop` ends its waits between tries. The cluster must outlive it.
  [[nodiscard]] std::unique_ptr<kube::Api> make_api(Deadlines deadlines, std::stop_token stop);
  [[nodiscard]] const std::string& server() const { return config_.server; }

 private:
  Cluster(kube::ClusterConfig config, Clock& clock);

  kube::ClusterConfig config_;
  Clock& clock_;
  std::unique_ptr<kube::Credentials> credentials_;
  std::unique_ptr<http::Client> http_;
};

}  // namespace gpuward::remediator
