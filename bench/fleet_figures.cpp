#include "bench/fleet_figures.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <utility>

#include "bench/process_cost.h"
#include "remediator/decide/budgets/ledger.h"

namespace gpuward::bench {
namespace {

using Clock = std::chrono::steady_clock;

bool promise(const std::string& what, double value, bool is_kept) {
  std::cout << "  " << std::left << std::setw(62) << what << std::right << std::fixed
            << std::setprecision(2) << std::setw(8) << value
            << (is_kept ? "   kept\n" : "   BROKEN\n");
  return is_kept;
}

}  // namespace

double seconds_between(SteadyTime begin, SteadyTime end) {
  return std::chrono::duration<double>(end - begin).count();
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

bool at_least(const std::string& what, double value, double least) {
  return promise(what, value, value >= least);
}
bool at_most(const std::string& what, double value, double most) {
  return promise(what, value, value <= most);
}

Cordoned cordon(const FleetRemediator& remediator, MarkedNodes& marked, std::size_t first,
                std::size_t nodes, const std::string& severity) {
  const auto cpu = cpu_time_of(remediator.pid());
  const auto begin = Clock::now();
  auto told = remediator.tell(first, nodes, severity, kConnections);
  const double told_s = seconds_between(begin, Clock::now());
  // No more nodes are ever out of service at once, whatever the budgets allow; the others wait.
  const std::size_t most = std::min(first + nodes, remediator::kMaxSlots);
  const double took = seconds_between(begin, marked.wait_for(most));
  remediator.wait_for_records(first + nodes);
  const double recorded = seconds_between(begin, Clock::now());
  const double recorded_rate = static_cast<double>(nodes) / recorded;
  const std::chrono::duration<double> used = cpu_time_of(remediator.pid()) - cpu;
  const double rate = static_cast<double>(most - first) / took;
  std::cout << std::fixed << std::setprecision(1) << "  " << nodes
            << " nodes at once: " << most - first << " tainted and cordoned after " << took
            << " s (" << rate << " nodes/s), recorded after " << recorded << " s (" << recorded_rate
            << " nodes/s); told within " << told_s << " s, " << told.sent_again
            << " sent again; answers p50 " << quantile(told.answers_ms, 0.5) << " ms, p99 "
            << quantile(told.answers_ms, 0.99) << " ms; " << used.count() << " s of CPU\n";
  return {.nodes_a_second = rate,
          .recorded_a_second = recorded_rate,
          .answers_ms = std::move(told.answers_ms)};
}

void print_memory(const std::string& who, const FleetRemediator& remediator) {
  std::cout << std::fixed << std::setprecision(1) << "  " << who << " has "
            << resident_mb(remediator.pid()) << " MB of resident memory, at most so far "
            << peak_resident_mb(remediator.pid()) << " MB\n";
}

}  // namespace gpuward::bench
