// A listener for the probes of a kubelet: one thread of its own, no TLS, no credentials. No number
// of connections to another listener makes it late. When it is attacked itself, it makes room: the
// peer with the most connections loses its oldest first. It answers a head, reads no body, and
// closes the connection after each answer. Used by both programs.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/http/server/server.h"
#include "core/model/result.h"

namespace gpuward::http {

struct HealthOptions {
  std::vector<std::string> listen_addresses;  // as those of ServerOptions
  std::size_t max_connections = 256;
  std::size_t max_connections_of_peer = 64;
  std::chrono::milliseconds head_timeout{1'000};
};

class HealthListener {
 public:
  // Binds, listens and answers. The handlers run on the listener's thread: one that waits delays
  // all probes. Errors as those of Server::start.
  [[nodiscard]] static Result<std::unique_ptr<HealthListener>> start(const HealthOptions& options,
                                                                     std::vector<Route> routes);
  HealthListener(const HealthListener&) = delete;
  HealthListener& operator=(const HealthListener&) = delete;
  ~HealthListener();

  // The ports really bound, in the order of listen_addresses.
  [[nodiscard]] const std::vector<int>& ports() const;

 private:
  class Impl;
  explicit HealthListener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// For a program's --web.health-address, which errors name; nullptr for no address.
[[nodiscard]] Result<std::unique_ptr<HealthListener>> serve_health(
    const std::vector<std::string>& addresses, std::vector<Route> routes);

}  // namespace gpuward::http
