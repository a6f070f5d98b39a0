#include "exporter/evidence/collectors.h"

#include <array>

namespace gpuward::exporter {
namespace {

using std::chrono::seconds;

constexpr std::size_t kMiB = 1U << 20U;
constexpr std::array<std::string_view, 1> kQuery{"-q"};
constexpr std::array<std::string_view, 2> kTopology{"topo", "-m"};
constexpr std::array<std::string_view, 2> kLinks{"nvlink", "--errorcounters"};
constexpr std::array<std::string_view, 1> kMetric{"metric"};
constexpr std::array<std::string_view, 2> kBadPages{"bad-pages", "--json"};
constexpr std::array<std::string_view, 1> kShowAll{"--showallinfo"};
// Omits the parts that may hang a machine that is already unhealthy.
constexpr std::array<std::string_view, 2> kBugReport{"--safe-mode", "--output-file"};

constexpr std::array<Collector, 8> kCollectors{{
    {"kernel-log.txt", "dmesg", {}, seconds(10), 4 * kMiB, EvidencePart::kTail},
    {"nvidia-smi.txt", "nvidia-smi", kQuery, seconds(60), 8 * kMiB},
    {"nvidia-smi-topo.txt", "nvidia-smi", kTopology, seconds(20), kMiB},
    {"nvidia-smi-nvlink.txt", "nvidia-smi", kLinks, seconds(20), kMiB},
    {"amd-smi-metric.txt", "amd-smi", kMetric, seconds(60), 8 * kMiB},
    {"amd-smi-bad-pages.json", "amd-smi", kBadPages, seconds(20), 4 * kMiB},
    {"rocm-smi.txt", "rocm-smi", kShowAll, seconds(60), 4 * kMiB},
    {"nvidia-bug-report.log.gz", "nvidia-bug-report.sh", kBugReport, seconds(120), 32 * kMiB,
     EvidencePart::kReport},
}};

}  // namespace

std::span<const Collector> all_collectors() { return kCollectors; }

}  // namespace gpuward::exporter
