// The cost of a scrape of the exporter, beside its peers in the same run: a handler that returns a
// static buffer of the same size, prometheus-cpp's Exposer with the same series, and
// prometheus-node-exporter. The peers take turns in short rounds, and a ratio is the median of the
// rounds' ratios, so that other load on the machine affects all of them. Exit code 1 if a promise
// is broken. With --promises it measures only what these need, and repeats it if one looks broken,
// so that a test can check the promises on a busy machine.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/keep_alive_client.h"
#include "bench/peer_process.h"
#include "tests/places.inc"

namespace {

using namespace std::chrono_literals;
using gpuward::bench::KeepAliveClient;
using gpuward::bench::PeerProcess;

constexpr int kGpus = 8;
constexpr int kRounds = 40;
constexpr int kScrapesPerRound = 50;
constexpr auto kThroughputRound = 150ms;
constexpr int kThroughputRounds = 8;
constexpr int kRoundsOfATry = 15;
constexpr int kTries = 3;
constexpr int kConnections = 4;
constexpr double kMostOverStatic = 1.3;
constexpr double kLeastUnderExposer = 6;
// All values of the fake driver for eight healthy H100s, and the log's Xids.
constexpr std::size_t kLeastSeries = 1300;

struct Peer {
  std::string name;
  bool is_stuck = false;  // did not answer in time: gets no more requests
  std::unique_ptr<PeerProcess> process = nullptr;
  std::unique_ptr<KeepAliveClient> client = nullptr;
  std::vector<double> all = {};      // microseconds
  std::vector<double> medians = {};  // of each round
  std::vector<double> p99s = {};     // of each round
  std::vector<double> rates = {};    // scrapes a second of each round
};

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values.at(static_cast<std::size_t>(q * static_cast<double>(values.size() - 1)));
}

double median_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(above[i] / below[i]);
  return quantile(ratios, 0.5);
}

std::size_t count_series(const std::string& text) {
  std::size_t series = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    series += text[at] != '#';
  return series;
}

// ---- the peers

// A node with some history: each of eight application errors on each GPU.
void write_history(const std::filesystem::path& folder) {
  std::ofstream log(folder / "kernel.log");
  for (const char* bus : {"1a", "2b", "3c", "4e", "9a", "ab", "bc", "cd"}) {
    for (const int code : {13, 31, 43, 45, 63, 68, 92, 94}) {
      log << "NVRM: Xid (PCI:0000:" << bus << ":00): " << code
          << ", pid=4711, name=python3, text\n";
    }
  }
}

void connect(Peer& peer, const std::string& encoding) {
  peer.client = std::make_unique<KeepAliveClient>(peer.process->port(), "/metrics", encoding);
}

Peer start_gpuward(const std::filesystem::path& folder, const std::string& programs) {
  write_history(folder);
  ::setenv("GPUWARD_FAKE_NVML",
           GPUWARD_SOURCE_DIR "/tests/testdata/invented/nvml/healthy_8x_h100.conf", 1);
  Peer peer{.name = "gpuward-exporter"};
  peer.process = std::make_unique<PeerProcess>(
      std::vector<std::string>{programs + "/gpuward-exporter", "--web.listen-address=127.0.0.1:0",
                               "--kernel-log.path=" + (folder / "kernel.log").string(),
                               "--gpu.nvml-library=" + programs + "/../lib/fakes/libnvidia-ml.so.1",
                               "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                               "--state.path=" + (folder / "state").string()},
      "port=");
  connect(peer, "identity");
  return peer;
}

// The exporter's text once it contains the whole log.
std::string settled_text(Peer& gpuward) {
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  std::string text;
  while (count_series(text) < kLeastSeries && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::yield();
    gpuward.client->get();
    text = gpuward.client->body();
  }
  return text;
}

std::optional<Peer> start_node_exporter() {
  constexpr const char* kProgram = "/usr/bin/prometheus-node-exporter";
  if (!std::filesystem::exists(kProgram)) return std::nullopt;
  const int port = gpuward::bench::free_port();
  Peer peer{.name = "prometheus-node-exporter (its own series)"};
  peer.process = std::make_unique<PeerProcess>(
      std::vector<std::string>{kProgram, "--web.listen-address=127.0.0.1:" + std::to_string(port)},
      "", port);
  connect(peer, "identity");
  return peer;
}

Peer start_peer(const std::string& name, const std::string& program, const std::string& text_file) {
  Peer peer{.name = name};
  peer.process =
      std::make_unique<PeerProcess>(std::vector<std::string>{program, text_file}, "port=");
  connect(peer, "identity");
  return peer;
}

// ---- measuring

void measure_latency(Peer& peer) {
  if (peer.is_stuck) return;
  std::vector<double> round;
  for (int i = 0; i < kScrapesPerRound; ++i) {
    const auto took = peer.client->get();
    peer.is_stuck = !took;
    if (!took) return;
    round.push_back(std::chrono::duration<double, std::micro>(*took).count());
  }
  peer.medians.push_back(quantile(round, 0.5));
  peer.p99s.push_back(quantile(round, 0.99));
  peer.all.insert(peer.all.end(), round.begin(), round.end());
}

void measure_throughput(Peer& peer) {
  if (peer.is_stuck) return;
  std::vector<int> counts(kConnections);
  const auto end = std::chrono::steady_clock::now() + kThroughputRound;
  {
    std::vector<std::jthread> scrapers;
    for (int& count : counts) {
      scrapers.emplace_back([&peer, &count, end] {
        KeepAliveClient client(peer.process->port(), "/metrics", "identity");
        for (; std::chrono::steady_clock::now() < end && client.get(); ++count) {
        }
      });
    }
  }
  double sum = 0;
  for (const int count : counts) sum += count;
  peer.rates.push_back(sum / std::chrono::duration<double>(kThroughputRound).count());
}

void warm_up(std::vector<Peer>& peers) {
  for (Peer& peer : peers) {
    for (int i = 0; i < kScrapesPerRound && !peer.is_stuck; ++i)
      peer.is_stuck = !peer.client->get();
  }
}

void measure_latencies(std::vector<Peer>& peers, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    for (Peer& peer : peers) measure_latency(peer);
  }
}

void measure_throughputs(std::vector<Peer>& peers) {
  for (int round = 0; round < kThroughputRounds; ++round) {
    for (Peer& peer : peers) measure_throughput(peer);
  }
}

// Resets the peer to its state before the first measurement, with a new connection.
void forget(Peer& peer) {
  peer.is_stuck = false;
  peer.all.clear();
  peer.medians.clear();
  peer.p99s.clear();
  connect(peer, "identity");
}

// ---- output

void print(const std::vector<Peer>& peers) {
  std::cout << std::fixed << std::setprecision(1);
  for (const Peer& peer : peers) {
    if (peer.is_stuck || peer.all.empty() || peer.rates.empty()) {
      std::cout << "  " << peer.name << ": has not answered a scrape within 5 s on this machine\n";
      continue;
    }
    std::cout << "  " << std::left << std::setw(44) << peer.name << std::right << " p50 "
              << std::setw(8) << quantile(peer.all, 0.5) << " us   p99 " << std::setw(8)
              << quantile(peer.all, 0.99) << " us   " << std::setw(8) << quantile(peer.rates, 0.5)
              << " scrapes/s (" << kConnections << " connections)   " << peer.client->body_bytes()
              << " bytes\n";
  }
}

bool promise(const std::string& what, double value, bool is_kept) {
  std::cout << "  " << std::left << std::setw(58) << what << std::right << std::fixed
            << std::setprecision(2) << std::setw(8) << value
            << (is_kept ? "   kept\n" : "   BROKEN\n");
  return is_kept;
}

// Whether the peers of the promises answer.
bool all_answer(const std::vector<Peer>& peers) {
  return std::none_of(peers.begin(), peers.begin() + 3, [](const Peer& p) { return p.is_stuck; });
}

bool print_promises(const std::vector<Peer>& peers) {
  const Peer& gpuward = peers[0];
  const Peer& fixed = peers[1];
  const Peer& exposer = peers[2];
  const double over_static = median_ratio(gpuward.medians, fixed.medians);
  const double under_exposer = median_ratio(exposer.medians, gpuward.medians);
  bool good = promise("p50, gpuward / static buffer (at most 1.3)", over_static,
                      over_static <= kMostOverStatic);
  good &= promise("p50, Exposer / gpuward (at least 6)", under_exposer,
                  under_exposer >= kLeastUnderExposer);
  return good;
}

void print_ratios(const std::vector<Peer>& peers) {
  const Peer& gpuward = peers[0];
  const Peer& fixed = peers[1];
  const Peer& exposer = peers[2];
  std::cout << "  p99, gpuward / static buffer " << median_ratio(gpuward.p99s, fixed.p99s)
            << ", Exposer / gpuward " << median_ratio(exposer.p99s, gpuward.p99s) << "\n"
            << "  throughput, gpuward / static buffer " << median_ratio(gpuward.rates, fixed.rates)
            << ", gpuward / Exposer " << median_ratio(gpuward.rates, exposer.rates) << "\n";
}

// ---- the two modes

bool show_figures(std::vector<Peer>& peers) {
  if (auto node = start_node_exporter()) peers.push_back(*std::move(node));
  warm_up(peers);
  measure_latencies(peers, kRounds);
  measure_throughputs(peers);
  print(peers);
  if (!all_answer(peers)) return false;
  const bool good = print_promises(peers);
  print_ratios(peers);
  return good;
}

// A broken promise is broken in every try; a neighbour's load does not last.
bool try_promises(std::vector<Peer>& peers) {
  for (int i = 0; i < kTries; ++i) {
    for (Peer& peer : peers) forget(peer);
    warm_up(peers);
    measure_latencies(peers, kRoundsOfATry);
    if (all_answer(peers) && print_promises(peers)) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_test = argc == 2 && std::string_view(argv[1]) == "--promises";
  if (argc > 1 && !is_test) {
    std::cerr << "usage: scrape_bench [--promises]\n";
    return 2;
  }
  std::string name = (std::filesystem::temp_directory_path() / "gpuward-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return 1;
  const std::filesystem::path folder = name;
  const std::string programs = GPUWARD_BIN_DIR;
  bool good = false;
  {
    std::vector<Peer> peers;
    peers.push_back(start_gpuward(folder, programs));
    const std::string text = settled_text(peers[0]);
    const std::string text_file = (folder / "metrics.txt").string();
    std::ofstream(text_file) << text;
    peers.push_back(start_peer("civetweb, static buffer of the same size",
                               programs + "/scrape_peer_static", text_file));
    peers.push_back(start_peer("prometheus-cpp Exposer, same series",
                               programs + "/scrape_peer_exposer", text_file));
    std::cout << "Scrapes of " << kGpus << " GPUs, " << count_series(text)
              << " series, loopback, kept connections\n";
    good = is_test ? try_promises(peers) : show_figures(peers);
    good &= count_series(text) >= kLeastSeries;
  }
  std::filesystem::remove_all(folder);
  return good ? 0 : 1;
}
