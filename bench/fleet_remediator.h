// The real gpuward-remediator as a process, beside a stub Prometheus that says of each node that it
// is bad, and the Alertmanager that tells it so: one node a message, sent again after a 503. Its
// budgets, circuit breaker and storm detection are out of the way. Used by fleet_bench.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/fleet_cluster.h"
#include "core/http/client/client.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/peer.h"

namespace gpuward::bench {

class FleetRemediator {
 public:
  // Returns when it leads and takes alerts; throws where it does not.
  explicit FleetRemediator(FleetCluster& cluster);

  // Alerts of that severity about nodes [first, first + nodes), from so many connections. How long
  // each answer took, in milliseconds; throws where one is neither 200 nor 503.
  struct Told {
    std::vector<double> answers_ms;
    std::size_t sent_again = 0;
  };
  [[nodiscard]] Told tell(std::size_t first, std::size_t nodes, const std::string& severity,
                          std::size_t connections) const;
  // Returns when all its Remediations, so many at least, say what was done about their nodes;
  // throws after a minute.
  void wait_for_records(std::size_t least) const;
  // From now on it takes every step, and drains as fast as it may.
  void let_drain() const;

  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] std::string log() const { return process_->error_output(); }

 private:
  void write_policy(const std::string& mode) const;
  [[nodiscard]] http::ClientResponse get(const std::string& path) const;  // of its telemetry
  [[nodiscard]] int port_in(const std::string& message) const;

  support::TempDir folder_;
  remediator::Peer prometheus_;
  std::unique_ptr<support::Process> process_;
  std::string telemetry_;  // its URL, once it serves
};

}  // namespace gpuward::bench
