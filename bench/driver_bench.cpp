// The cost of the driver for a node and its scrapes: the exporter with its worker on a fake
// libnvidia-ml.so.1 of eight GPUs. Compares scrapes while an NVML call hangs with scrapes while
// none does, in turns in the same run; and measures CPU and memory of exporter and worker at the
// default intervals. The fake answers at once: a real driver adds its own time per reading. Exit
// code 1 if a promise is broken. `--promises`: a shorter run, for the tests.
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/keep_alive_client.h"
#include "bench/peer_process.h"
#include "bench/process_cost.h"
#include "tests/places.inc"

namespace {

using namespace std::chrono_literals;
using gpuward::bench::KeepAliveClient;
using gpuward::bench::PeerProcess;
using Clock = std::chrono::steady_clock;

constexpr int kScrapesPerRound = 200;
constexpr double kMostOverWell = 2;
constexpr double kMostCpuPercent = 0.15;
constexpr double kMostResidentMb = 20;
constexpr auto kScrapeInterval = 15s;

struct Lengths {
  int rounds;
  std::chrono::seconds idle;
  bool holds_cpu;  // whether a broken promise about CPU time counts
};
constexpr Lengths kFigures{.rounds = 60, .idle = 90s, .holds_cpu = true};
constexpr Lengths kPromises{.rounds = 20, .idle = 15s, .holds_cpu = false};

const std::string kScenarios = GPUWARD_SOURCE_DIR "/tests/testdata/invented/nvml/";

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

bool promise(const std::string& what, double value, double most) {
  const bool is_kept = value <= most;
  std::cout << "  " << std::left << std::setw(58) << what << std::right << std::fixed
            << std::setprecision(2) << std::setw(8) << value
            << (is_kept ? "   kept\n" : "   BROKEN\n");
  return is_kept;
}

// An exporter with its own driver.
class Node {
 public:
  Node(std::filesystem::path folder, const std::string& config) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    play("healthy_8x_h100");
    std::ofstream(folder_ / "config.yaml") << config;
    // Blocks until a line arrives, like /dev/kmsg; a plain file has to be polled.
    ::mkfifo((folder_ / "kernel.log").c_str(), 0600);
    ::setenv("GPUWARD_FAKE_NVML", (folder_ / "scenario.conf").c_str(), 1);
    const std::string bin = GPUWARD_BIN_DIR;
    process_ = std::make_unique<PeerProcess>(
        std::vector<std::string>{bin + "/gpuward-exporter", "--web.listen-address=127.0.0.1:0",
                                 "--kernel-log.path=" + (folder_ / "kernel.log").string(),
                                 "--state.path=" + (folder_ / "state").string(),
                                 "--config.file=" + (folder_ / "config.yaml").string(),
                                 "--gpu.nvml-library=" + bin + "/../lib/fakes/libnvidia-ml.so.1",
                                 "--gpu.amd-smi-library=/nowhere/libamd_smi.so"},
        "port=");
    client_ = std::make_unique<KeepAliveClient>(process_->port(), "/metrics", "identity");
  }

  void play(const std::string& scenario) const {
    std::ofstream(folder_ / "next.conf") << "include = " << kScenarios << scenario << ".conf\n";
    std::filesystem::rename(folder_ / "next.conf", folder_ / "scenario.conf");
  }
  // Returns whether the page has that line within half a minute.
  [[nodiscard]] bool reaches(const std::string& line) {
    for (const auto end = Clock::now() + 30s; Clock::now() < end; ::poll(nullptr, 0, 20)) {
      if (client_->get() && ("\n" + client_->body()).contains("\n" + line + "\n")) return true;
    }
    std::cout << "  never: " << line << "\n";
    return false;
  }
  // Microseconds of each scrape; empty if one got no answer.
  std::vector<double> scrape(int times) {
    std::vector<double> took;
    for (int i = 0; i < times; ++i) {
      const auto one = client_->get();
      if (!one) return {};
      took.push_back(std::chrono::duration<double, std::micro>(*one).count());
    }
    return took;
  }
  [[nodiscard]] std::size_t page_bytes() const { return client_->body_bytes(); }
  [[nodiscard]] pid_t pid() const { return process_->pid(); }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<PeerProcess> process_;
  std::unique_ptr<KeepAliveClient> client_;
};

// The shortest possible intervals, so that the driver hangs, and its worker is killed and
// restarted, during the whole measurement.
bool measure_hang(const std::filesystem::path& folder, const Lengths& lengths) {
  const std::string kQuick = "gpu: {interval: 1s, timeout: 1s}\n";
  Node well(folder / "well", kQuick);
  Node hung(folder / "hung", kQuick);
  if (!well.reaches("gpuward_gpu_worker_up 1") || !hung.reaches("gpuward_gpu_worker_up 1"))
    return false;
  hung.play("hung_driver");
  if (!hung.reaches("gpuward_gpu_worker_state{state=\"hung\"} 1")) return false;
  std::vector<double> ratios;
  std::vector<double> of_well;
  std::vector<double> of_hung;
  for (int round = 0; round < lengths.rounds; ++round) {
    const auto good = well.scrape(kScrapesPerRound);
    const auto bad = hung.scrape(kScrapesPerRound);
    if (good.empty() || bad.empty()) return false;
    ratios.push_back(quantile(bad, 0.99) / quantile(good, 0.99));
    of_well.insert(of_well.end(), good.begin(), good.end());
    of_hung.insert(of_hung.end(), bad.begin(), bad.end());
    ::poll(nullptr, 0, 100);  // several hangs and restarts happen within the run
  }
  // A value that cannot be read has no series: the page of a node with a hanging driver is smaller.
  const auto print = [](const char* what, const Node& node, const std::vector<double>& took) {
    std::cout << std::fixed << std::setprecision(1) << "  a scrape, " << what << ": p50 "
              << quantile(took, 0.5) << " us, p99 " << quantile(took, 0.99) << " us, "
              << node.page_bytes() << " bytes\n";
  };
  print("driver well", well, of_well);
  print("an NVML call hung", hung, of_hung);
  return promise("p99 of a scrape, call hung / not (at most 2)", quantile(ratios, 0.5),
                 kMostOverWell);
}

// An idle node: default intervals, a scrape now and then.
bool measure_cost(const std::filesystem::path& folder, const Lengths& lengths) {
  Node node(folder / "idle", "{}\n");
  if (!node.reaches("gpuward_gpu_worker_up 1")) return false;
  const auto worker = gpuward::bench::child_of(node.pid());
  if (!worker) return false;
  const auto cost = [&] {
    return gpuward::bench::cpu_time_of(node.pid()) + gpuward::bench::cpu_time_of(*worker);
  };
  const auto begin = Clock::now();
  const auto before = cost();
  while (Clock::now() - begin < lengths.idle) {
    if (node.scrape(1).empty()) return false;
    const auto left =
        std::min<Clock::duration>(kScrapeInterval, begin + lengths.idle - Clock::now());
    ::poll(nullptr, 0,
           static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
  }
  const std::chrono::duration<double> used = cost() - before;
  const std::chrono::duration<double> passed = Clock::now() - begin;
  std::cout << std::fixed << std::setprecision(1) << "  resident: exporter "
            << gpuward::bench::resident_mb(node.pid()) << " MB, worker "
            << gpuward::bench::resident_mb(*worker) << " MB\n";
  // It is not a ratio within one run, so a busy test machine only prints it.
  bool good = promise("CPU of exporter and worker, % of a core (at most 0.15)",
                      100 * (used / passed), kMostCpuPercent) ||
              !lengths.holds_cpu;
  good &= promise("resident memory of the exporter, MB (at most 20)",
                  gpuward::bench::resident_mb(node.pid()), kMostResidentMb);
  return good;
}

bool measure(const Lengths& lengths) {
  std::string name = (std::filesystem::temp_directory_path() / "gpuward-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return false;
  bool good = measure_hang(name, lengths);
  good &= measure_cost(name, lengths);
  std::filesystem::remove_all(name);
  return good;
}

// On a busy machine one measurement may be wrong; a broken promise is broken each time.
bool try_promises() {
  constexpr int kTries = 3;
  for (int i = 0; i < kTries; ++i) {
    if (measure(kPromises)) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_test = argc == 2 && std::string_view(argv[1]) == "--promises";
  if (argc > 1 && !is_test) {
    std::cerr << "usage: driver_bench [--promises]\n";
    return 2;
  }
  std::cout << "The exporter and its GPU worker, eight GPUs of a fake NVML\n";
  return (is_test ? try_promises() : measure(kFigures)) ? 0 : 1;
}
