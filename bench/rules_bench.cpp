// What the alert rules cost a real Prometheus with 5,000 nodes of 8 GPUs: series, memory and the
// time of an evaluation. The nodes serve what the rules read and nothing else, of a real exporter's
// page; what all of it costs is measured with 200 nodes that serve the whole page, and
// extrapolated. Exit code 1 where a promise is broken, 77 where there is no Prometheus. `--small`:
// 500 nodes and 20.
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/page_server.h"
#include "bench/process_cost.h"
#include "tests/alerts/alert_rules.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace {

using gpuward::bench::PageServer;
using gpuward::support::http_get;
using gpuward::support::poll_until;
using gpuward::support::Process;
using gpuward::support::TempDir;
using std::chrono::seconds;

constexpr int kSkipped = 77;
constexpr std::size_t kGpus = 8;
constexpr std::size_t kOneIsBadOf = 100;  // nodes
constexpr int kLooks = 30;                // a second apart: six evaluations
constexpr double kMostSeriesOfGpu = 6;
constexpr std::size_t kLeastSeries = 900;
constexpr seconds kScrapeLimit{240};

struct Scale {
  std::size_t lean, full;  // nodes
};
constexpr Scale kFigures{.lean = 5000, .full = 200};
constexpr Scale kSmall{.lean = 500, .full = 20};

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

// The whole page of a real exporter with eight boards of the fake driver, and what a kubelet adds.
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

// Its samples of metrics that a rule names.
std::string lean_page(const std::string& full) {
  const auto names = gpuward::alerts::metrics_in_rules();
  const std::set<std::string> wanted(names.begin(), names.end());
  std::istringstream lines(full);
  std::string page;
  for (std::string line; std::getline(lines, line);) {
    // The catalogue is read by `source` alone: a code in no table.
    if (line.starts_with("gpuward_xid_policy_info") && !line.contains("unknown")) continue;
    // And the checks by how many could not tell.
    if (line.starts_with("gpuward_check_status") && !line.contains("error")) continue;
    if (is_sample(line) && wanted.contains(line.substr(0, line.find_first_of("{ ")))) {
      page += line + "\n";
    }
  }
  // That a check could not tell here, without a PCI bus, is no fault of a node of the fleet.
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

// ---- Prometheus

struct Evaluation {
  double seconds = 0, busiest = 0;
};

class Prometheus {
 public:
  Prometheus(std::size_t nodes, int port_of_pages)
      : nodes_(nodes), address_("127.0.0.1:" + std::to_string(gpuward::support::free_port())) {
    const std::string config = write_config(port_of_pages);
    process_ = spawn({"prometheus", "--config.file=" + config,
                      "--storage.tsdb.path=" + (folder_ / "data").string(),
                      "--web.listen-address=" + address_});
  }
  // Once every node was scraped; false where that does not come about.
  [[nodiscard]] bool is_full() const {
    const std::string wanted = ",\"" + std::to_string(nodes_) + "\"]";
    return poll_until(
        [&] {
          return http_get("http://" + address_ + "/api/v1/query?query=sum(up)")
              .body.contains(wanted);
        },
        kScrapeLimit);
  }
  // The newest values of its own metric, one for each group of rules where there are such.
  [[nodiscard]] std::vector<double> own(const std::string& metric) const {
    const std::string page = http_get("http://" + address_ + "/metrics").body;
    std::istringstream lines(page);
    std::vector<double> values;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(metric + "{") || line.starts_with(metric + " ")) {
        values.push_back(std::stod(line.substr(line.rfind(' '))));
      }
    }
    return values;
  }
  // Of all groups together, in seconds, and of the busiest one as a part of its interval.
  [[nodiscard]] Evaluation newest_evaluation() const {
    const auto durations = own("prometheus_rule_group_last_duration_seconds");
    const auto intervals = own("prometheus_rule_group_interval_seconds");
    Evaluation out;
    for (std::size_t i = 0; i < std::min(durations.size(), intervals.size()); ++i) {
      out.seconds += durations[i];
      out.busiest = std::max(out.busiest, durations[i] / intervals[i]);
    }
    return out;
  }
  [[nodiscard]] double resident_mb() const { return gpuward::bench::resident_mb(process_->pid()); }

 private:
  std::string write_config(int port) const {
    std::ostringstream text;
    text << "global: {scrape_interval: 30s, evaluation_interval: 5s}\nrule_files: ["
         << (gpuward::alerts::alerts_folder() / "gpuward.rules.yaml").string()
         << "]\nscrape_configs:\n  - job_name: gpuward-exporter\n    static_configs:\n";
    for (std::size_t node = 0; node < nodes_; ++node) {
      text << "      - {targets: ['127.0.0.1:" << port << "'], labels: {node: gpu-" << node
           << ", instance: 'gpu-" << node << ":10980'"
           << ", __metrics_path__: " << (node % kOneIsBadOf == 0 ? "/bad" : "/well") << "}}\n";
    }
    return folder_.write("prometheus.yaml", text.str());
  }
  TempDir folder_;
  std::size_t nodes_;
  std::string address_;
  std::unique_ptr<Process> process_;
};

struct Cost {
  double series = 0, resident_mb = 0, evaluation = 0, busiest = 0;  // the median, and the worst
};

Cost measure(std::size_t nodes, const std::string& well, const std::string& bad) {
  const PageServer pages({{"/well", well}, {"/bad", bad}});
  const Prometheus prometheus(nodes, pages.port());
  if (!prometheus.is_full()) {
    std::cerr << "Prometheus has not scraped " << nodes << " nodes in time\n";
    std::exit(1);
  }
  std::vector<double> evaluations;
  Cost cost;
  for (int look = 0; look < kLooks; ++look) {
    const Evaluation newest = prometheus.newest_evaluation();
    evaluations.push_back(newest.seconds);
    cost.busiest = std::max(cost.busiest, newest.busiest);
    ::poll(nullptr, 0, 1000);
  }
  std::ranges::sort(evaluations);
  cost.evaluation = evaluations[evaluations.size() / 2];
  cost.series = prometheus.own("prometheus_tsdb_head_series").at(0);
  cost.resident_mb = prometheus.resident_mb();
  return cost;
}

// Of a Prometheus that watches one node.
double base_mb(const std::string& page) {
  const PageServer pages({{"/bad", page}});
  const Prometheus prometheus(1, pages.port());
  (void)prometheus.is_full();
  return prometheus.resident_mb();
}

void tell(const std::string& what, double nodes, const Cost& cost, const std::string& note) {
  std::cout << "  " << std::left << std::setw(44) << what << std::right << std::fixed
            << std::setprecision(0) << std::setw(6) << nodes << " nodes  " << std::setw(9)
            << cost.series << " series  " << std::setw(6) << cost.resident_mb << " MB" << note
            << "\n";
}

bool promise(const std::string& what, double value, double most) {
  std::cout << "  " << std::left << std::setw(62) << what << std::right << std::setprecision(2)
            << std::setw(8) << value << (value <= most ? "   kept\n" : "   BROKEN\n");
  return value <= most;
}

int run(const Scale& scale) {
  const TempDir folder;
  const std::string full = full_page(folder);
  const std::string lean = lean_page(full);
  const auto lean_series = static_cast<double>(count_series(lean) + 1);  // and `up`
  std::cout << "Prometheus on this machine, scrapes every 30 s, rules every 5 s, one node in "
            << kOneIsBadOf << " with a GPU off the bus\n";
  const Cost lean_cost = measure(scale.lean, lean, bad_page(lean));
  tell("only what the rules read", static_cast<double>(scale.lean), lean_cost, "");
  const Cost full_cost = measure(scale.full, full, bad_page(full));
  tell("everything", static_cast<double>(scale.full), full_cost, "");
  const double times = static_cast<double>(scale.lean) / static_cast<double>(scale.full);
  const double base = base_mb(full);
  tell("everything, EXTRAPOLATED", static_cast<double>(scale.lean),
       {.series = full_cost.series * times,
        .resident_mb = base + (full_cost.resident_mb - base) * times},
       "  (from the line above, not measured)");
  std::cout << std::setprecision(2)
            << "  an evaluation of all groups of rules, median: " << lean_cost.evaluation << " s\n";
  const bool is_lean = promise("series a GPU that the rules read (at most 6)", lean_series / kGpus,
                               kMostSeriesOfGpu);
  const bool is_quick =
      promise("the busiest group's part of its interval (at most 1)", lean_cost.busiest, 1);
  return is_lean && is_quick ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_small = argc == 2 && std::string_view(argv[1]) == "--small";
  if (argc > 2 || (argc == 2 && !is_small)) {
    std::cerr << "usage: rules_bench [--small]\n";
    return 2;
  }
  if (const auto why = gpuward::support::why_no_program("prometheus"); !why.empty()) {
    std::cout << why << "\n";
    return kSkipped;
  }
  return run(is_small ? kSmall : kFigures);
}
