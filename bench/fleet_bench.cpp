// What the remediator makes of a fleet in which many nodes fail at once: the real program on a real
// kube-apiserver and etcd, whose nodes and pods are plain objects, and beside it in the same run
// what the same API server takes from somebody who only writes. All of it shares this machine. The
// budgets are at 100 %, circuit breaker and storm detection are off: what is measured is how fast
// it could be. Nodes are counted when they are tainted and cordoned; what is set against the bare
// writer is when all is written down. Exit code 1 where a promise is broken, 77 where there is no
// control plane. `--small`: 300 nodes.
#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/bare_writer.h"
#include "bench/fleet_cluster.h"
#include "bench/fleet_remediator.h"
#include "bench/fleet_watch.h"
#include "bench/process_cost.h"
#include "tests/support/require.h"

namespace {

using gpuward::bench::FleetCluster;
using gpuward::bench::FleetRemediator;
using gpuward::bench::Kubelets;
using gpuward::bench::MarkedNodes;
using Clock = std::chrono::steady_clock;

constexpr int kSkipped = 77;             // as bench/CMakeLists.txt tells ctest
constexpr std::size_t kConnections = 8;  // of Alertmanager, and of the bare writer
constexpr std::size_t kEvictors = 32;    // as many as the policy has in flight
constexpr std::size_t kPodsOfNode = 15;
constexpr double kLeastOfBare = 0.6;
constexpr double kLeastNodes = 100;      // a second
constexpr double kLeastEvictions = 150;  // a second
constexpr double kMostResidentMb = 60;
constexpr double kMostAnswerMs = 100;

struct Fleet {
  std::size_t nodes;
  std::vector<std::size_t> failing;  // at once, one after the other; the last are drained
};
const Fleet kFigures{.nodes = 1500, .failing = {150, 375, 750}};
const Fleet kSmall{.nodes = 300, .failing = {50, 150}};

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

bool promise(const std::string& what, double value, bool is_kept) {
  std::cout << "  " << std::left << std::setw(62) << what << std::right << std::fixed
            << std::setprecision(2) << std::setw(8) << value
            << (is_kept ? "   kept\n" : "   BROKEN\n");
  return is_kept;
}
bool at_least(const std::string& what, double value, double least) {
  return promise(what, value, value >= least);
}
bool at_most(const std::string& what, double value, double most) {
  return promise(what, value, value <= most);
}

// Rates of the bare writer.
struct Bare {
  double nodes = 0, remediations = 0;  // a second
};

Bare measure_bare(FleetCluster& cluster, std::size_t nodes) {
  const auto count = static_cast<double>(nodes);
  // A server that has just started compiles and reads what it needs with the first requests.
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

struct Cordoned {
  double nodes_a_second = 0;
  double recorded_a_second = 0;  // by when the Remediations say so too
  std::vector<double> answers_ms;
};

Cordoned cordon(const FleetRemediator& remediator, MarkedNodes& marked, std::size_t first,
                std::size_t nodes, const std::string& severity) {
  const auto cpu = gpuward::bench::cpu_time_of(remediator.pid());
  const auto begin = Clock::now();
  auto told = remediator.tell(first, nodes, severity, kConnections);
  const double told_s = seconds_between(begin, Clock::now());
  const double took = seconds_between(begin, marked.wait_for(first + nodes));
  remediator.wait_for_records(first + nodes);
  const double recorded = seconds_between(begin, Clock::now());
  const double recorded_rate = static_cast<double>(nodes) / recorded;
  const std::chrono::duration<double> used = gpuward::bench::cpu_time_of(remediator.pid()) - cpu;
  const double rate = static_cast<double>(nodes) / took;
  std::cout << std::fixed << std::setprecision(1) << "  " << nodes
            << " nodes at once: all tainted and cordoned after " << took << " s (" << rate
            << " nodes/s), recorded after " << recorded << " s (" << recorded_rate
            << " nodes/s); told within " << told_s << " s, " << told.sent_again
            << " sent again; answers p50 " << quantile(told.answers_ms, 0.5) << " ms, p99 "
            << quantile(told.answers_ms, 0.99) << " ms; " << used.count() << " s of CPU\n";
  return {.nodes_a_second = rate,
          .recorded_a_second = recorded_rate,
          .answers_ms = std::move(told.answers_ms)};
}

double eviction_rate(const char* who, Kubelets::Span span, std::size_t pods) {
  const double took = seconds_between(span.first_told, span.last_gone);
  const double rate = static_cast<double>(pods) / took;
  std::cout << std::fixed << std::setprecision(1) << "  " << who << ": " << pods
            << " pods evicted and gone within " << took << " s (" << rate << " evictions/s)\n";
  return rate;
}

void print_memory(const FleetRemediator& remediator) {
  std::cout << std::fixed << std::setprecision(1) << "  resident memory now "
            << gpuward::bench::resident_mb(remediator.pid()) << " MB, at most so far "
            << gpuward::bench::peak_resident_mb(remediator.pid()) << " MB\n";
}

struct Outcome {
  double nodes;             // tainted and cordoned a second
  double recorded_of_bare;  // with all that is written, of the bare writer's rate
  double evictions, evictions_of_bare;
  double resident_mb, answer_ms;
};

// What is not a ratio to anything in the same run is only printed by the tests.
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

// Of the nodes [first, first + nodes), which are cordoned: the same pods twice.
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
  print_memory(remediator);
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
    const Cordoned done = cordon(remediator, marked, first, nodes, is_last ? "reboot" : "isolate");
    print_requests(cluster, requests, static_cast<double>(nodes), "a node");
    answers_ms.insert(answers_ms.end(), done.answers_ms.begin(), done.answers_ms.end());
    nodes_a_second = done.nodes_a_second;
    recorded_a_second = done.recorded_a_second;
    if (!is_last) first += nodes;
  }
  print_memory(remediator);

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
  const bool is_small = argc == 2 && std::string_view(argv[1]) == "--small";
  std::cout << std::unitbuf;  // a long run is looked at while it goes
  if (argc > 1 && !is_small) {
    std::cerr << "usage: fleet_bench [--small]\n";
    return 2;
  }
  if (const std::string why = gpuward::support::ControlPlane::why_unavailable(); !why.empty()) {
    std::cout << "fleet_bench: Skipped\n" << why << "\n";
    return kSkipped;
  }
  return measure(is_small ? kSmall : kFigures) ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "fleet_bench: " << error.what() << "\n";
  return 1;
}
