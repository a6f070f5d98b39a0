#include "bench/large_fleet.h"

#include <algorithm>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/fleet_cluster.h"
#include "bench/fleet_figures.h"
#include "bench/fleet_remediator.h"
#include "bench/fleet_watch.h"
#include "bench/process_cost.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/wait.h"

namespace gpuward::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPodsOfNode = 12;
constexpr std::size_t kNodesOfLimits = 5000;
constexpr double kMostLeaderMb = 120;
constexpr double kMostStandbyMb = 60;
constexpr double kMostCommandSeconds = 2;
// A kubelet's duration; the kubelet renews its Lease four times in that time.
constexpr std::size_t kLeaseSeconds = 40;

// In a larger fleet each node renews its Lease less often: two cores can handle 500 renewals a
// second besides the rest.
std::size_t lease_seconds(std::size_t nodes) {
  return std::max(kLeaseSeconds, kLeaseSeconds * nodes / kNodesOfLimits);
}

// Returns once the last of the nodes has a Lease.
std::unique_ptr<support::Process> start_kwok(FleetCluster& cluster, std::size_t nodes) {
  const char* const program = std::getenv("KWOK");
  if (program == nullptr) {
    std::cout << "  nobody plays the kubelets: KWOK names no program\n";
    return nullptr;
  }
  const std::string lease_duration = std::to_string(lease_seconds(nodes));
  auto kwok = support::Process::spawn(
      {.argv = {program, "--kubeconfig=" + cluster.plane().kubeconfig().string(),
                "--manage-all-nodes", "--node-lease-duration-seconds=" + lease_duration}});
  if (!kwok) throw std::runtime_error(kwok.error().message);
  const std::string lease =
      "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" + node_name(nodes - 1);
  if (!support::poll_until([&] { return cluster.hands().has(lease); }, std::chrono::minutes(5)))
    throw std::runtime_error("kwok renews no Leases: " + (*kwok)->error_output());
  std::cout << "  kwok plays the kubelets, with Leases of " << lease_duration << " s\n";
  return *std::move(kwok);
}

// The seconds that a command takes.
double time_of(FleetCluster& cluster, std::vector<std::string> words) {
  words.insert(words.begin(), GPUWARD_BIN_DIR "/gpuwardctl");
  words.push_back("--kubeconfig=" + cluster.hands().kubeconfig_of_human());
  const auto begin = Clock::now();
  const auto done = support::Process::run({.argv = words});
  const double took = seconds_between(begin, Clock::now());
  if (!done) throw std::runtime_error(done.error().message);
  if (done->exit_code != 0) throw std::runtime_error(words[1] + ": " + done->error_output);
  return took;
}

// Alerts half of the nodes [first, first + nodes), kills the leader, and waits for the other
// replica to lead.
void kill_leader_in_storm(FleetRemediator& leader, const FleetRemediator& standby,
                          MarkedNodes& marked, std::size_t first, std::size_t nodes) {
  (void)leader.tell(first, nodes / 2, "isolate", kConnections);
  leader.kill();
  const auto begin = Clock::now();
  standby.wait_until_it_leads();
  const double led = seconds_between(begin, Clock::now());
  std::cout << std::fixed << std::setprecision(1) << "  leader killed with " << nodes / 2
            << " nodes told; the standby leads and takes alerts after " << led << " s\n";
  (void)cordon(standby, marked, first, nodes, "isolate");
}

}  // namespace

bool measure_large_fleet(std::size_t nodes) {
  std::cout << "Leader and standby on " << nodes << " nodes and " << nodes * kPodsOfNode
            << " pods of a real kube-apiserver; budgets at 100 %, circuit breaker and storm "
               "detection off\n";
  FleetCluster cluster(nodes);
  cluster.put_pods(0, nodes, kPodsOfNode, "work");
  const auto kwok = start_kwok(cluster, nodes);
  MarkedNodes marked(cluster, "gpuward.dev/remediation");
  const auto begin = Clock::now();
  FleetRemediator leader(cluster);
  std::cout << std::fixed << std::setprecision(1) << "  ready, with the census of all nodes, after "
            << seconds_between(begin, Clock::now()) << " s\n";
  FleetRemediator standby(cluster, Replica::kStandby);
  print_memory("the leader", leader);
  print_memory("the standby", standby);

  const std::size_t few = nodes / 20;
  (void)cordon(leader, marked, 0, few, "isolate");
  const double standby_mb = peak_resident_mb(standby.pid());
  print_memory("the leader", leader);
  kill_leader_in_storm(leader, standby, marked, few, nodes / 2);
  print_memory("the new leader", standby);
  const double leader_mb = peak_resident_mb(standby.pid());
  const double list = time_of(cluster, {"list"});
  const double explain = time_of(cluster, {"explain", node_name(few)});
  if (kwok != nullptr && !kwok->running())
    throw std::runtime_error("kwok: " + kwok->error_output());
  if (nodes > kNodesOfLimits)
    std::cout << "  the limits below are those of 5,000 nodes, and decide nothing here\n";
  const bool is_kept = static_cast<bool>(
      static_cast<int>(at_most("resident memory of the leader, MB (wanted: at most 120)", leader_mb,
                               kMostLeaderMb)) &
      static_cast<int>(at_most("resident memory of the standby, MB (wanted: at most 60)",
                               standby_mb, kMostStandbyMb)) &
      static_cast<int>(
          at_most("gpuwardctl list, s (wanted: at most 2)", list, kMostCommandSeconds)) &
      static_cast<int>(
          at_most("gpuwardctl explain, s (wanted: at most 2)", explain, kMostCommandSeconds)));
  return is_kept || nodes > kNodesOfLimits;
}

}  // namespace gpuward::bench
