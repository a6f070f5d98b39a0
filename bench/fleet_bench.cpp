// The remediator's rate in a fleet in which many nodes fail at once: the real program on a real
// kube-apiserver and etcd, whose nodes and pods are plain objects, compared in the same run with a
// plain writer on the same API server. All of it shares this machine. The budgets are at 100 %, and
// circuit breaker and storm detection are off: the result is the highest possible rate. Nodes count
// when they are tainted and cordoned; the comparison with the bare writer uses the time when
// everything is recorded. Exit code 1 if a promise is broken, 77 if there is no control plane.
// `--small`: 300 nodes. `--nodes N`: the cost of a fleet of that size (large_fleet.h).
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/bare_writer.h"
#include "bench/fleet_cluster.h"
#include "bench/fleet_figures.h"
#include "bench/fleet_remediator.h"
#include "bench/fleet_watch.h"
#include "bench/large_fleet.h"
#include "bench/process_cost.h"
#include "tests/support/require.h"

namespace {

using gpuward::bench::at_least;
using gpuward::bench::at_most;
using gpuward::bench::Cordoned;
using gpuward::bench::FleetCluster;
using gpuward::bench::FleetRemediator;
using gpuward::bench::kConnections;
using gpuward::bench::Kubelets;
using gpuward::bench::MarkedNodes;
using gpuward::bench::quantile;
using gpuward::bench::seconds_between;

constexpr int kSkipped = 77;           // the code that bench/CMakeLists.txt gives ctest
constexpr std::size_t kEvictors = 32;  // the policy has as many in flight
constexpr std::size_t kPodsOfNode = 15;
constexpr double kLeastOfBare = 0.6;
constexpr double kLeastNodes = 100;      // a second
constexpr double kLeastEvictions = 150;  // a second
constexpr double kMostResidentMb = 60;
constexpr double kMostAnswerMs = 100;

struct Fleet {
  std::size_t nodes;
  std::vector<std::size_t> failing;  // rounds of nodes that fail at once; the last ones are drained
};
const Fleet kFigures{.nodes = 1500, .failing = {150, 375, 750}};
const Fleet kSmall{.nodes = 300, .failing = {50, 150}};

// Rates of the bare writer.
struct Bare {
  double nodes = 0, remediations = 0;  // a second
};

Bare measure_bare(FleetCluster& cluster, std::size_t nodes) {
  const auto count = static_cast<double>(nodes);
  // A new server compiles and reads what it needs with the first requests.
  (void)gpuward::bench::write_remediations(cluster, nodes, kConnections);
  gpuward::bench::undo_bare_writes(cluster, nodes, kConnections);
  Bare bare;
  bare.nodes = count / gpuward::bench::patch_nodes(cluster, nodes, kConnections);
  gpuward::bench::undo_bare_writes(cluster, nodes, kConnections);
  bare.remediations = count / gpuward::bench::write_remediations(cluster, nodes, kConnections);
  gpuward::bench::undo_bare_writes(cluster, nodes, kConnections);
  std::cout << std::fixed << std::setprecision(0) << "  bare writer: " << bare.nodes
            << " node patches/s; with the " << gpuward::bench::kWritesPerRemediation
            << " writes of a remediation " << bare.remediations << " nodes/s\n";
  return bare;
}

void print_requests(const FleetCluster& cluster, std::map<std::string, std::size_t>& before,
                    double per, const std::string& unit) {
  const auto after = cluster.requests_of(gpuward::remediator::kRemediatorUser);
  std::vector<std::pair<double, std::string>> kinds;
  double all = 0;
  for (const auto& [kind, number] : after) {
    const double share = static_cast<double>(number - before[kind]) / per;
    all += share;
    if (share >= 0.01) kinds.emplace_back(share, kind);
  }
  before = after;
  std::ranges::sort(kinds, std::greater<>());
  std::cout << std::fixed << std::setprecision(2) << "    API requests " << unit << ": " << all
            << " (";
  for (const auto& [share, kind] : kinds)
    std::cout << (kind == kinds.front().second ? "" : ", ") << share << " " << kind;
  std::cout << ")\n";
}

double eviction_rate(const char* who, Kubelets::Span span, std::size_t pods) {
  const double took = seconds_between(span.first_told, span.last_gone);
  const double rate = static_cast<double>(pods) / took;
  std::cout << std::fixed << std::setprecision(1) << "  " << who << ": " << pods
            << " pods evicted and gone within " << took << " s (" << rate << " evictions/s)\n";
  return rate;
}

struct Outcome {
  double nodes;             // tainted and cordoned per second
  double recorded_of_bare;  // with all records, as a share of the bare writer's rate
  double evictions, evictions_of_bare;
  double resident_mb, answer_ms;
};

// The tests only print values that are not ratios within one run.
bool judge(const Outcome& outcome) {
  return at_least("nodes cordoned a second (wanted: 100)", outcome.nodes, kLeastNodes) &
         at_least("nodes with all that is written, of the bare writer's (wanted: 0.60)",
                  outcome.recorded_of_bare, kLeastOfBare) &
         at_least("evictions a second (wanted: 150)", outcome.evictions, kLeastEvictions) &
         at_least("evictions, of the bare writer's (wanted: 0.60)", outcome.evictions_of_bare,
                  kLeastOfBare) &
         at_most("p99 of the webhook's answers, ms (wanted: at most 100)", outcome.answer_ms,
                 kMostAnswerMs) &
         at_most("resident memory, MB (wanted: at most 60)", outcome.resident_mb, kMostResidentMb);
}

struct Evictions {
  double bare, remediator;  // a second
};

// Drains nodes [first, first + nodes), which are cordoned: the same pods twice.
Evictions drain(FleetCluster& cluster, const FleetRemediator& remediator, std::size_t first,
                std::size_t nodes) {
  const std::size_t pods = nodes * kPodsOfNode;
  cluster.put_pods(first, nodes, kPodsOfNode, "bare");
  Kubelets kubelets(cluster);
  gpuward::bench::evict_pods(cluster, first, nodes, kPodsOfNode, "bare", kEvictors);
  const double bare = eviction_rate("bare writer", kubelets.wait_for(pods), pods);
  cluster.put_pods(first, nodes, kPodsOfNode, "work");
  auto requests = cluster.requests_of(gpuward::remediator::kRemediatorUser);
  const auto cpu = gpuward::bench::cpu_time_of(remediator.pid());
  remediator.let_drain();
  const double rate = eviction_rate("remediator", kubelets.wait_for(pods), pods);
  const std::chrono::duration<double> used = gpuward::bench::cpu_time_of(remediator.pid()) - cpu;
  std::cout << "    " << used.count() << " s of CPU\n";
  print_requests(cluster, requests, static_cast<double>(pods), "a pod");
  gpuward::bench::print_memory("it", remediator);
  return {bare, rate};
}

bool measure(const Fleet& fleet) {
  std::cout << "The remediator on " << fleet.nodes
            << " nodes of a real kube-apiserver; budgets at 100 %, circuit breaker and storm "
               "detection off\n";
  FleetCluster cluster(fleet.nodes);
  const std::size_t most = fleet.failing.back();
  const Bare bare = measure_bare(cluster, most);

  MarkedNodes marked(cluster, "gpuward.dev/remediation");
  FleetRemediator remediator(cluster);
  auto requests = cluster.requests_of(gpuward::remediator::kRemediatorUser);
  std::vector<double> answers_ms;
  double nodes_a_second = 0, recorded_a_second = 0;
  std::size_t first = 0;
  for (const std::size_t nodes : fleet.failing) {
    const bool is_last = nodes == most;
    const Cordoned done =
        gpuward::bench::cordon(remediator, marked, first, nodes, is_last ? "reboot" : "isolate");
    print_requests(cluster, requests, static_cast<double>(nodes), "a node");
    answers_ms.insert(answers_ms.end(), done.answers_ms.begin(), done.answers_ms.end());
    nodes_a_second = done.nodes_a_second;
    recorded_a_second = done.recorded_a_second;
    if (!is_last) first += nodes;
  }
  gpuward::bench::print_memory("it", remediator);

  const Evictions evictions = drain(cluster, remediator, first, most);
  return judge({.nodes = nodes_a_second,
                .recorded_of_bare = recorded_a_second / bare.remediations,
                .evictions = evictions.remediator,
                .evictions_of_bare = evictions.remediator / evictions.bare,
                .resident_mb = gpuward::bench::peak_resident_mb(remediator.pid()),
                .answer_ms = quantile(answers_ms, 0.99)});
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const bool is_small = argc == 2 && std::string_view(words[1]) == "--small";
  const bool is_large = argc == 3 && std::string_view(words[1]) == "--nodes";
  const std::size_t large = is_large ? std::strtoul(words[2], nullptr, 10) : 0;
  std::cout << std::unitbuf;  // a long run is watched while it prints
  if ((argc > 1 && !is_small && !is_large) || (is_large && (large < 100 || large > 99'999))) {
    std::cerr << "usage: fleet_bench [--small | --nodes N], N from 100 to 99999\n";
    return 2;
  }
  if (const std::string why = gpuward::support::ControlPlane::why_unavailable(); !why.empty()) {
    std::cout << "fleet_bench: Skipped\n" << why << "\n";
    return kSkipped;
  }
  if (is_large) return gpuward::bench::measure_large_fleet(large) ? 0 : 1;
  return measure(is_small ? kSmall : kFigures) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "fleet_bench: " << error.what() << "\n";
  return 1;
}
