// A fleet as plain objects on a real kube-apiserver, with the shipped permissions: nodes with GPUs
// that are a day old, pods on them, and a count of the requests from the server's own audit log.
// Used by fleet_bench.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/http/client/client.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/plane_hands.h"

namespace gpuward::bench {

// The boot ID of all nodes: one answer of the stub Prometheus fits each of them.
inline constexpr const char* kBootOfAll = "boot-of-all";
// Has every permission, no priority in the server's queues, and is audited like the remediator.
inline constexpr const char* kBareToken = "bare-writer-token-0123456789";
inline constexpr const char* kBareUser = "system:serviceaccount:gpuward:bare-writer";

class FleetCluster {
 public:
  // Throws std::runtime_error if a part of it fails; so do all other functions here.
  explicit FleetCluster(std::size_t nodes);

  // Nodes [first, first + nodes) get `each` running pods.
  void put_pods(std::size_t first, std::size_t nodes, std::size_t each, const std::string& prefix);
  // The number of requests of `user` so far, by "patch nodes", "patch remediations/status" and so
  // on.
  [[nodiscard]] std::map<std::string, std::size_t> requests_of(const std::string& user) const;
  [[nodiscard]] remediator::PlaneHands& hands() { return *hands_; }
  [[nodiscard]] const support::ControlPlane& plane() const { return hands_->plane(); }

 private:
  support::TempDir folder_;
  std::unique_ptr<remediator::PlaneHands> hands_;
};

[[nodiscard]] std::string node_name(std::size_t index);
[[nodiscard]] std::string node_uid(std::size_t index);
[[nodiscard]] std::string pod_name(const std::string& prefix, std::size_t node, std::size_t index);

// A writer's own kept connection.
class Writer {
 public:
  Writer(const support::ControlPlane& plane, std::string token);
  // Throws if the answer is not 2xx.
  void write(const std::string& method, const std::string& path, const std::string& body);

 private:
  std::string url_, token_;
  http::CurlClient client_;
};

// Calls work(thread, i) for each i below `count` from that many threads; rethrows an exception of
// one of them.
void for_each_from(std::size_t threads, std::size_t count,
                   const std::function<void(std::size_t thread, std::size_t i)>& work);

}  // namespace gpuward::bench
