// The speed of reading kernel-log lines: the real lines of the corpus, mixed with the lines of an
// ordinary log, through the joiner, the parser and the catalogue, on one thread.
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

#include "core/xid/catalogue.h"
#include "core/xid/joiner.h"
#include "core/xid/parser.h"
#include "tests/places.inc"

namespace {

using namespace std::chrono_literals;

constexpr int kNoisePerLine = 20;  // a busy node: one line in twenty matters
constexpr auto kDuration = 2s;

const char* const kNoise[] = {
    "[ 1843.308145] audit: type=1400 audit(1795249476.125:92): apparmor=\"STATUS\" "
    "operation=\"profile_load\"",
    "Nov 18 17:26:39 node-17 kernel: [ 2001.118290] eth0: link up, 100000 Mbps, full duplex",
    "6,1234,98765432,-;cni0: port 12(veth5e1f2a3b) entered forwarding state",
    "[Thu Nov 20 03:11:53 2026] EXT4-fs (nvme1n1p1): mounted filesystem with ordered data mode",
    "Nov 18 17:26:40 node-17 kernel: NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  "
    "570.158.01",
};

std::vector<std::string> mixed_log(const std::string& corpus) {
  std::vector<std::string> lines;
  std::ifstream file(corpus);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    for (std::size_t i = 0; i < kNoisePerLine; ++i)
      lines.emplace_back(kNoise[i % std::size(kNoise)]);
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string corpus =
      argc > 1 ? argv[1]
               : std::string(GPUWARD_SOURCE_DIR) + "/tests/testdata/kernel_log/corpus.txt";
  const std::vector<std::string> lines = mixed_log(corpus);
  if (lines.empty()) {
    std::cerr << "no corpus at " << corpus << "\n";
    return 1;
  }
  const gpuward::xid::Catalogue catalogue;
  std::uint64_t events = 0, read = 0, bytes = 0, rounds = 0, severities = 0;
  const auto start = std::chrono::steady_clock::now();
  for (; std::chrono::steady_clock::now() - start < kDuration; ++rounds) {
    gpuward::xid::RecordJoiner joiner;
    for (const std::string& line : lines) {
      bytes += line.size() + 1;
      const auto event = gpuward::xid::parse_record(joiner.push(line).text);
      if (!event) continue;
      ++events;
      severities += static_cast<std::uint64_t>(catalogue.judge(*event).severity);
    }
    read += lines.size();
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << std::fixed << std::setprecision(2)
            << "Kernel-log lines, one thread: " << static_cast<double>(read) / seconds / 1e6
            << " million lines/s, " << static_cast<double>(bytes) / seconds / 1e6 << " MB/s ("
            << lines.size() << " lines, " << events / rounds << " events, severities "
            << severities / rounds << ")\n";
  return events == 0 ? 1 : 0;
}
