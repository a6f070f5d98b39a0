// The real gpuward-remediator as a process, beside a stub Prometheus that reports each node as
// broken, and an Alertmanager that sends its alerts: one node a message, sent again after a 503.
// Its budgets, circuit breaker and storm detection limit nothing. Used by fleet_bench.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/fleet_cluster.h"
#include "core/http/client/client.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/peer.h"

namespace gpuward::bench {

enum class Replica { kLeader, kStandby };

class FleetRemediator {
 public:
  // Returns when it is ready, and for a leader when it accepts alerts; throws if that does not
  // happen.
  explicit FleetRemediator(FleetCluster& cluster, Replica replica = Replica::kLeader);
  // For a standby whose leader has ended: returns when it accepts alerts; throws after a minute.
  void wait_until_it_leads() const;
  void kill() { (void)process_->stop(std::chrono::milliseconds(0)); }

  // Sends alerts of that severity about nodes [first, first + nodes), from that many connections.
  // Returns the time of each answer in milliseconds; throws if one is neither 200 nor 503.
  struct Told {
    std::vector<double> answers_ms;
    std::size_t sent_again = 0;
  };
  [[nodiscard]] Told tell(std::size_t first, std::size_t nodes, const std::string& severity,
                          std::size_t connections) const;
  // Returns when all its Remediations, at least that many, record the steps on their nodes; throws
  // after five minutes and 100 ms for each.
  void wait_for_records(std::size_t least) const;
  // From now on it takes every step, and drains as fast as it may.
  void let_drain() const;

  [[nodiscard]] pid_t pid() const { return process_->pid(); }
  [[nodiscard]] std::string log() const { return process_->error_output(); }

 private:
  void write_policy(const std::string& mode) const;
  [[nodiscard]] http::ClientResponse get(const std::string& path) const;  // from its telemetry port
  [[nodiscard]] bool leads() const;
  void wait_for(const std::string& what, const std::function<bool()>& is_so) const;
  [[nodiscard]] int port_in(const std::string& message) const;

  support::TempDir folder_;
  remediator::Peer prometheus_;
  std::unique_ptr<support::Process> process_;
  std::string telemetry_;  // its URL, once it serves
};

}  // namespace gpuward::bench
