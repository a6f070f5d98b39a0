// The cost of 5,000 nodes with 8 GPUs each for a real Prometheus, in the version that `./dev` pins,
// at the shipped intervals: series, memory, CPU and the time of the alert rules. First the nodes
// serve only the metrics that the rules read, from a real exporter's page. Then 500, 1,000 and
// 2,000 nodes serve the whole page; 5,000 are extrapolated from these. Exit code 1 if a promise is
// broken, 77 if there is no Prometheus. `--small`: a tenth of these numbers. `--nodes N [--interval
// S]`: that many nodes with the whole page, scraped every S seconds, for a machine that can handle
// them.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/measured_prometheus.h"
#include "bench/page_server.h"
#include "bench/process_cost.h"
#include "tests/alerts/alert_rules.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace {

using gpuward::bench::Evaluation;
using gpuward::bench::kShippedInterval;
using gpuward::bench::MeasuredPrometheus;
using gpuward::bench::PageServer;
using gpuward::support::http_get;
using gpuward::support::kPrometheus;
using gpuward::support::poll_until;
using gpuward::support::Process;
using gpuward::support::TempDir;
using std::chrono::seconds;

constexpr int kSkipped = 77;
constexpr std::size_t kGpus = 8;
constexpr std::size_t kOneIsBadOf = 100;  // nodes
// One second apart. The slowest group is evaluated once a minute, and reads two minutes of samples.
constexpr int kLooks = 130;
constexpr double kMostSeriesOfGpu = 6;
constexpr std::size_t kLeastSeries = 900;
constexpr double kLeastInTime = 0.99;  // share of the scrapes; below it Prometheus does not keep up

struct Scale {
  std::size_t lean = 0;           // number of nodes; zero: none
  std::vector<std::size_t> full;  // numbers of nodes, measured one after the other, ascending
  int interval = kShippedInterval;
};
const Scale kFigures{.lean = 5000, .full = {500, 1000, 2000}};
const Scale kSmall{.lean = 500, .full = {50, 100, 200}};

bool is_sample(const std::string& line) { return !line.empty() && line.front() != '#'; }

std::size_t count_series(const std::string& page) {
  std::istringstream lines(page);
  std::size_t series = 0;
  for (std::string line; std::getline(lines, line);) series += is_sample(line) ? 1 : 0;
  return series;
}

// ---- the pages

std::unique_ptr<Process> spawn(std::vector<std::string> argv,
                               std::map<std::string, std::string> environment = {}) {
  auto process = Process::spawn({.argv = std::move(argv), .env = std::move(environment)});
  if (process) return *std::move(process);
  std::cerr << process.error().message << "\n";
  std::exit(1);
}

// The whole page of a real exporter with the eight GPUs of the fake driver, and the labels that a
// kubelet adds.
std::string full_page(const TempDir& folder) {
  const std::string address = "127.0.0.1:" + std::to_string(gpuward::support::free_port());
  folder.write("kernel.log", "");
  const std::string config = folder.write("exporter.yaml", "instance: {type: p5.48xlarge}\n");
  const auto exporter =
      spawn({GPUWARD_BIN_DIR "/gpuward-exporter", "--web.listen-address=" + address,
             "--kernel-log.path=" + (folder / "kernel.log").string(), "--config.file=" + config,
             "--gpu.nvml-library=" GPUWARD_BIN_DIR "/../lib/fakes/libnvidia-ml.so.1",
             "--gpu.amd-smi-library=/nowhere/libamd_smi.so", "--path.sysfs=/nowhere",
             "--state.path=" + (folder / "state").string()},
            {{"GPUWARD_FAKE_NVML",
              GPUWARD_SOURCE_DIR "/tests/testdata/invented/nvml/healthy_8x_h100.conf"}});
  std::string page;
  (void)poll_until(
      [&] {
        page = http_get("http://" + address + "/metrics").body;
        return count_series(page) >= kLeastSeries && page.contains("check=\"3-topology-check\"");
      },
      seconds(60));
  for (std::size_t gpu = 0; gpu < kGpus; ++gpu) {
    page += "gpuward_gpu_pod_info{gpu=\"" + std::to_string(gpu) + "\",pci_bus_id=\"0000:1" +
            std::to_string(gpu) + ":00\",namespace=\"ml\",pod=\"train-0\",container=\"main\"} 1\n";
  }
  return page;
}

// Its samples of the metrics in the rules.
std::string lean_page(const std::string& full) {
  const auto names = gpuward::alerts::metrics_in_rules();
  const std::set<std::string> wanted(names.begin(), names.end());
  std::istringstream lines(full);
  std::string page;
  for (std::string line; std::getline(lines, line);) {
    // The rules read the catalogue only by `source`: a code that no table has.
    if (line.starts_with("gpuward_xid_policy_info") && !line.contains("unknown")) continue;
    // They read the checks only by the number without a result.
    if (line.starts_with("gpuward_check_status") && !line.contains("error")) continue;
    if (is_sample(line) && wanted.contains(line.substr(0, line.find_first_of("{ ")))) {
      page += line + "\n";
    }
  }
  // A check without a result here, because there is no PCI bus, is not a fault of a node of the
  // fleet.
  return std::regex_replace(page, std::regex("(status=\"error\"\\}) 1"), "$1 0");
}

// The same with a GPU that fell off the bus.
std::string bad_page(const std::string& lean) {
  static const std::regex kSeverity("gpuward_node_severity [0-9]");
  const std::string gpu = "check=\"xid\",code=\"79\",pci_bus_id=\"0000:1a:00\",gpu=\"0\"";
  return std::regex_replace(lean, kSeverity, "gpuward_node_severity 3") + "gpuward_finding{" + gpu +
         ",severity=\"reboot\",evidence=\"kernel\",cleared_by=\"reboot\"} 1\n" +
         "gpuward_finding_first_seen_timestamp_seconds{" + gpu + "} 1790000000\n" +
         "gpuward_finding_last_seen_timestamp_seconds{" + gpu + "} 1790000000\n";
}

// ---- the cost

struct Cost {
  double nodes = 0, series = 0, resident_mb = 0, cores = 0;
  double evaluation = 0, busiest = 0;  // the median, and the worst
};

void tell(const std::string& what, const Cost& cost, const std::string& note) {
  std::cout << "  " << std::left << std::setw(26) << what << std::right << std::fixed
            << std::setprecision(0) << std::setw(6) << cost.nodes << " nodes  " << std::setw(9)
            << cost.series << " series  " << std::setw(6) << cost.resident_mb << " MB  "
            << std::setprecision(2) << std::setw(5) << cost.cores << " cores  rules "
            << std::setw(5) << cost.evaluation << " s" << note << "\n";
}

// Nothing if this machine cannot scrape that many nodes in time.
std::optional<Cost> measure(const std::string& what, std::size_t nodes, int interval,
                            const std::string& well) {
  const PageServer pages({{"/well", well}, {"/bad", bad_page(well)}});
  const MeasuredPrometheus prometheus({.nodes = nodes,
                                       .interval_seconds = interval,
                                       .port = pages.port(),
                                       .well_path = "/well",
                                       .bad_path = "/bad",
                                       .one_is_bad_of = kOneIsBadOf});
  const auto give_up = [&](double in_time) {
    std::cout << "  " << what << ": this machine does not scrape " << nodes << " nodes every "
              << interval << " s (" << std::fixed << std::setprecision(0) << in_time * 100
              << " % of the scrapes were done)\n";
    return std::nullopt;
  };
  if (!prometheus.is_full()) return give_up(prometheus.scrapes_in_time());
  std::vector<double> evaluations;
  Cost cost{.nodes = static_cast<double>(nodes)};
  const auto begin = std::chrono::steady_clock::now();
  const auto cpu = gpuward::bench::cpu_time_of(prometheus.pid());
  for (int look = 0; look < kLooks; ++look) {
    const Evaluation newest = prometheus.newest_evaluation();
    evaluations.push_back(newest.seconds);
    cost.busiest = std::max(cost.busiest, newest.busiest);
    ::poll(nullptr, 0, 1000);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const std::chrono::duration<double> used = gpuward::bench::cpu_time_of(prometheus.pid()) - cpu;
  std::ranges::sort(evaluations);
  cost.evaluation = evaluations[evaluations.size() / 2];
  cost.cores = used / took;
  cost.series = prometheus.series();
  cost.resident_mb = gpuward::bench::resident_mb(prometheus.pid());
  const double in_time = prometheus.scrapes_in_time();
  if (in_time < kLeastInTime) return give_up(in_time);
  tell(what, cost, "");
  return cost;
}

// The cost of that many nodes, on the line through the smallest and the largest measured fleet.
Cost extrapolate(const Cost& small, const Cost& large, std::size_t nodes) {
  const auto wanted = static_cast<double>(nodes);
  const auto at = [&](double Cost::* figure) {
    const double slope = (large.*figure - small.*figure) / (large.nodes - small.nodes);
    return large.*figure + slope * (wanted - large.nodes);
  };
  return {.nodes = wanted,
          .series = at(&Cost::series),
          .resident_mb = at(&Cost::resident_mb),
          .cores = at(&Cost::cores),
          .evaluation = at(&Cost::evaluation),
          .busiest = at(&Cost::busiest)};
}

bool promise(const std::string& what, double value, double most) {
  std::cout << "  " << std::left << std::setw(62) << what << std::right << std::setprecision(2)
            << std::setw(8) << value << (value <= most ? "   kept\n" : "   BROKEN\n");
  return value <= most;
}

bool measure_lean(const Scale& scale, const std::string& full) {
  const std::string lean = lean_page(full);
  const auto cost = measure("only what the rules read", scale.lean, scale.interval, lean);
  const auto series = static_cast<double>(count_series(lean) + 1);  // and `up`
  const bool is_lean =
      promise("series a GPU that the rules read (at most 6)", series / kGpus, kMostSeriesOfGpu);
  return cost &&
         promise("the busiest group's part of its interval (at most 1)", cost->busiest, 1) &&
         is_lean;
}

int run(const Scale& scale) {
  const TempDir folder;
  const std::string full = full_page(folder);
  std::cout << "Prometheus (module " << gpuward::support::version_of(kPrometheus)
            << ") on this machine, scrapes every " << scale.interval << " s, rules every "
            << kShippedInterval << " s, one node in " << kOneIsBadOf << " with a GPU off the bus, "
            << count_series(full) << " series a node\n";
  const bool is_kept = scale.lean == 0 || measure_lean(scale, full);
  std::vector<Cost> costs;
  for (const std::size_t nodes : scale.full) {
    const auto cost = measure("everything", nodes, scale.interval, full);
    if (!cost) break;
    costs.push_back(*cost);
  }
  if (costs.size() > 1 && scale.lean != 0) {
    tell("everything, EXTRAPOLATED", extrapolate(costs.front(), costs.back(), scale.lean),
         "  (from the lines above, not measured)");
  }
  return is_kept && !costs.empty() ? 0 : 1;
}

// The scale of the command line; nothing if it cannot be parsed.
std::optional<Scale> scale_of(std::span<char*> words) {
  if (words.empty()) return kFigures;
  const std::string_view first = words[0];
  if (words.size() == 1 && first == "--small") return kSmall;
  if ((words.size() != 2 && words.size() != 4) || first != "--nodes") return std::nullopt;
  Scale scale{.full = {std::strtoul(words[1], nullptr, 10)}};
  if (words.size() == 4 && std::string_view(words[2]) != "--interval") return std::nullopt;
  if (words.size() == 4) scale.interval = std::atoi(words[3]);
  if (scale.full[0] < 1 || scale.interval < 1) return std::nullopt;
  return scale;
}

}  // namespace

int main(int argc, char** argv) {
  const auto scale = scale_of(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  std::cout << std::unitbuf;  // a long run is watched while it prints
  if (!scale) {
    std::cerr << "usage: rules_bench [--small | --nodes N [--interval SECONDS]]\n";
    return 2;
  }
  if (const auto why = gpuward::support::why_not_built(kPrometheus, "prometheus"); !why.empty()) {
    std::cout << why << "\n";
    return kSkipped;
  }
  return run(*scale);
}
