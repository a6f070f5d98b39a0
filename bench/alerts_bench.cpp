// How often 1,000 nodes with 8 GPUs each page operators in a month: pages of broken nodes, pages
// without a fault, and the time from fault to page. Exit code 1 if a promise is broken, 77 if there
// is no Prometheus. `--small`: 200 nodes and three days, with ten times the faults.
#include <iostream>
#include <string>
#include <string_view>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/alerts/month/month.h"
#include "tests/support/require.h"

namespace {

using gpuward::alerts::MonthOptions;

constexpr int kSkipped = 77;

bool promise(const std::string& what, const std::vector<std::string>& broken) {
  std::cout << "  " << what << (broken.empty() ? "   kept\n" : "   BROKEN\n");
  for (const std::string& one : broken) std::cout << "    " << one << "\n";
  return broken.empty();
}

int run(bool is_small) {
  MonthOptions options{
      .rules = *gpuward::read_file(gpuward::alerts::rules_file()),
      .routes = *gpuward::read_file(gpuward::alerts::alerts_folder() / "alertmanager.yaml")};
  if (is_small) options.size = {.nodes = 200, .days = 3, .fault_factor = 10};
  const auto month = gpuward::alerts::simulate_month(options);
  const auto verdict = gpuward::alerts::judge(month);
  std::cout << options.size.nodes << " nodes of 8 GPUs, " << options.size.days << " days\n\n"
            << gpuward::alerts::table(month, verdict) << "\n";
  const bool is_once = promise("one page for a broken node until its state changes", verdict.twice);
  const bool is_true = promise("no page without a fault", verdict.without_fault);
  const bool is_whole = promise("no broken node without a page", verdict.unpaged);
  return is_once && is_true && is_whole ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_small = argc == 2 && std::string_view(argv[1]) == "--small";
  if (argc > 2 || (argc == 2 && !is_small)) {
    std::cerr << "usage: alerts_bench [--small]\n";
    return 2;
  }
  if (const auto why = gpuward::support::why_no_program("prometheus"); !why.empty()) {
    std::cout << why << "\n";
    return kSkipped;
  }
  return run(is_small);
}
